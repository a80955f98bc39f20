# Runs the relay.
class relay::server (
  Integer $port = 8080,
) {
  package { 'relay':
    ensure => installed,
  }
  include relay::config
}

define relay::route(String $to) {
  notify { $to: }
}

function relay::heavier(Integer $n) {
  $n * 2
}
