#!/usr/bin/env bash
# Makes the profile that the compiler optimises hot code with, of CPU under load: cmd/pmg/default.pgo, of pmg alone, with its store in
# memory and on disk, without receipts and with one for each message. Run it (make pgo) after large changes of the hot path.
set -euo pipefail
usage="usage: profile.sh PATH-OF-PMG PATH-OF-PMGLOAD PROFILE"
pmg=${1:?$usage} pmgload=${2:?$usage} profile=${3:?$usage}
dir=$(mktemp -d)
finish() { kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$dir"; }
trap finish EXIT

address() { # file, words before it: waits for a line with an address
  for _ in $(seq 100); do
    sed -nE "s/.*$2.*(127\.0\.0\.1:[0-9]+).*/\1/p" "$1" | head -n 1 | grep . && return
    sleep 0.1
  done
  echo "profile.sh: $1 has no address" >&2
  return 1
}

"$pmgload" sink --listen 127.0.0.1:0 --receipts >"$dir/sink" 2>&1 &
sink=$(address "$dir/sink" 'listening on')
for engine in memory pebble; do
  cat >"$dir/pmg.yaml" <<YAML
store: {engine: $engine, dir: "$dir/data"}
pdulog: {enabled: true, dir: "$dir/pdulog", compress: false, keep: 1}
admin: {socket: "$dir/admin.sock", address: "127.0.0.1:0", pprof: true}
accounts: [{system_id: load, password: secret}]
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0", window: 100}
  - {name: operator, direction: out, address: "$sink", instances: 64, window: 10, system_id: pmg, password: secret}
routes: [{to: operator}]
YAML
  "$pmg" serve -c "$dir/pmg.yaml" >"$dir/$engine.log" 2>&1 &
  gateway=$!
  clients=$(address "$dir/$engine.log" '"clients"')
  for receipts in "" --receipts; do
    "$pmgload" load --to "$clients" --connections 64 --duration 12s $receipts >/dev/null 2>&1 &
    load=$!
    sleep 1
    curl -sf --unix-socket "$dir/admin.sock" "http://localhost/debug/pprof/profile?seconds=10" >"$dir/$engine$receipts.pprof"
    kill "$load"
    wait "$load" || true
  done
  kill "$gateway"
  wait "$gateway" || true
done
go tool pprof -proto "$dir"/*.pprof >"$profile"
echo "made $profile"
