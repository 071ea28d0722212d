#!/bin/sh
# Installs clients of other languages into a temporary folder and runs them against a gateway. It takes minutes and
# about 2 GB. With SYNOD_CLIENTS=FOLDER the folder is kept, and used again the next time.
set -e
here=$(cd "$(dirname "$0")" && pwd)
if [ -z "$SYNOD_CLIENTS" ]; then
  SYNOD_CLIENTS=$(mktemp -d)
  trap 'rm -rf "$SYNOD_CLIENTS"' EXIT
fi
for need in python3 node npm; do
  command -v $need >/dev/null || { echo "make clients needs $need" >&2; exit 1; }
done
for set in sdk agents apps eval; do
  [ -e "$SYNOD_CLIENTS/$set" ] || python3 -m venv "$SYNOD_CLIENTS/$set"
  "$SYNOD_CLIENTS/$set/bin/python" -m pip install --quiet --disable-pip-version-check -r "$here/$set.txt"
done
for set in js editor; do
  mkdir -p "$SYNOD_CLIENTS/$set"
  cp "$here/$set.json" "$SYNOD_CLIENTS/$set/package.json"
  (cd "$SYNOD_CLIENTS/$set" && npm install --silent --no-audit --no-fund)
done
export SYNOD_CLIENTS
cd "$here/../../.."
go test -count=1 -v -timeout 30m -tags clients -run TestClients ./internal/clients
