@description('Where it runs.')
param location string = 'westeurope'

var prefix = toLower('Relay')

// The store of events.
resource store 'Microsoft.Storage/storageAccounts@2022-09-01' = {
  name: '${prefix}store'
  location: location
}

module net './net.bicep' = {
  name: 'net'
}

output storeId string = store.id
