# The relay as a package and a service.
{ lib, stdenv, fetchFromGitHub, openssl ? null, ... }@args:

let
  version = "1.4.0";

  # Names of the regions the relay serves.
  regions = [ "north" "south" ];

  /* Makes one unit a region. */
  mkUnit = { name, port ? 8443 }: {
    description = "relay for ${name}";
    script = "relayd --region ${name} --port ${toString port}";
  };

  double = x: y: x * y;

  inherit (lib) mkIf mkOption types;
in
rec {
  relay = stdenv.mkDerivation {
    pname = "relay";
    inherit version;

    src = fetchFromGitHub {
      owner = "relay";
      repo = "relay";
      rev = "v${version}";
    };

    # Needed for TLS.
    buildInputs = [ openssl ];
    installPhase = ''
      mkdir -p $out/bin
    '';
  };

  options.services.relay = {
    enable = mkOption {
      type = types.bool;
      default = false;
    };
  };

  units = builtins.map (name: mkUnit { inherit name; }) regions;

  "quoted-name" = import ./console.nix { inherit lib; };

  overlay = final: prev: {
    relay = prev.callPackage ./relay.nix { };
  };
}
