<#
.SYNOPSIS
Watches the relay from an operator's desk.
#>
using namespace System.Collections.Generic
using module .\RelayTypes.psm1

Import-Module Microsoft.PowerShell.Utility
. "$PSScriptRoot\shared.ps1"

$ApiRoot = 'https://relay.example/api'
$script:RetryMax = 3
[int]$PageSize = 25

# How a region is doing.
enum RegionState {
    Up
    Lagging = 5
    Down
}

# One region as the relay reports it.
class Region : Resource, IComparable {
    [string]$Name
    [RegionState]$State = [RegionState]::Up
    hidden [datetime]$SeenAt
    static [int]$Count = 0

    Region([string]$name) : base($name) {
        $this.Name = $name
        [Region]::Count++
    }

    # Whether the region needs a look.
    [bool] IsTroubled([int]$minutes) {
        $limit = (Get-Date).AddMinutes(-$minutes)
        return $this.State -ne [RegionState]::Up -or $this.SeenAt -lt $limit
    }

    static [Region] Parse([string]$line) {
        return [Region]::new($line.Trim())
    }
}

<#
.SYNOPSIS
Gets the regions from the relay.
.PARAMETER State
Only those in this state.
#>
function Get-RelayRegion {
    [CmdletBinding()]
    [OutputType([Region[]])]
    param(
        [Parameter(Mandatory, ValueFromPipeline)]
        [string]$State,

        [int]$Limit = 10
    )

    begin {
        $found = [List[Region]]::new()
    }
    process {
        $answer = Invoke-RestMethod -Uri "$ApiRoot/regions?state=$State"
        foreach ($line in $answer.lines) {
            $found.Add([Region]::Parse($line))
        }
    }
    end {
        $found | Sort-Object Name | Select-Object -First $Limit
    }
}

# Short form for the prompt.
function script:Show-Trouble([string]$Title, $Minutes = 15) {
    Get-RelayRegion -State 'Down' | ForEach-Object { Write-Host "$Title $($_.Name)" }
}

filter Skip-Empty { if ($_) { $_ } }

Describe 'Region' {
    It 'parses a line' {
        [Region]::Parse(' north ').Name | Should -Be 'north'
    }
}

Set-Alias relay Get-RelayRegion
Export-ModuleMember -Function Get-RelayRegion

filter global:Select-Late { $_ }

configuration WebServer {
    param($Node)
    File Page { Ensure = 'Present' }
}
