#!/usr/bin/env bash
# Backs a folder up to the vault and keeps the last few copies.

set -euo pipefail

source "$(dirname "$0")/lib/log.sh"
. /etc/backup.conf

# How many copies stay.
readonly KEEP=7
export VAULT_URL="https://vault.example.org"
declare -A SKIP=([cache]=1 [tmp]=1)
TARGETS=(etc home var)
verbose=0

# Prints how to call this.
usage() {
  cat <<TEXT
usage: backup [-v] FOLDER
TEXT
}

# Packs a folder.
#
#   pack FOLDER ARCHIVE
function pack {
  local folder=$1 archive="$2"
  local -r stamp=$(date +%F)
  for skip in "${!SKIP[@]}"; do
    excludes+=("--exclude=$skip")
  done
  tar -czf "$archive.$stamp" "${excludes[@]}" "$folder" || log::error "tar failed"
}

function vault::upload() (
  curl --fail -T "$1" "$VAULT_URL/$(basename "$1")"
)

prune() {
  find "$1" -name '*.tgz' | sort | head -n "-$KEEP" | while read -r old; do
    rm -- "$old"
  done
}

alias ll='ls -l'

while getopts "vh" flag; do
  case $flag in
    v) verbose=1 ;;
    *) usage; exit 64 ;;
  esac
done

if [[ -n ${1:-} ]]; then
  cleanup() { rm -rf "$work"; }
  trap cleanup EXIT
  pack "$1" "${WORK_DIR:=/tmp}/backup"
fi

alias ll='ls -l' la=ls
alias -g quiet="> /dev/null"
