#!/bin/sh
# Starts a council of seven nodes on seven loopback addresses, each a process with its own key, and a page
# that shows them. Then it asks a question, writes a certificate and checks it. With "stay" the nodes go on
# until Ctrl-C. With LINKS=libp2p they use go-libp2p.
#
#   examples/network/run.sh [stay] [QUESTION]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
synod=${SYNOD:-$here/../../bin/synod}
stay=no
if [ "${1:-}" = stay ]; then stay=yes; shift; fi
question=${1:-What is 17 + 25?}
work=$(mktemp -d "${TMPDIR:-/tmp}/synod-net.XXXXXX")
pids=
stop() { for p in $pids; do kill "$p" 2>/dev/null || true; done; wait; rm -rf "$work"; }
trap stop EXIT
trap 'exit 130' INT TERM

cd "$work"
members=
for i in 1 2 3 4 5 6 7; do
  key=$("$synod" node init "a$i.key" 2>/dev/null)
  members="$members --member a$i=$key@127.0.0.$i:7400"
done
caller=$("$synod" node init caller.key 2>/dev/null)
"$synod" roster new -c "$here/council.yaml" $members --caller "me=$caller" --links "${LINKS:-tls}" -o council.roster
for i in 1 2 3 4 5 6 7; do "$synod" roster sign council.roster --key "a$i.key" --yes 2>/dev/null; done
"$synod" roster verify council.roster
for i in 1 2 3 4 5 6 7; do
  "$synod" node run --roster council.roster --key "a$i.key" --dir "a$i" 2>"a$i.log" & pids="$pids $!"
done
for i in 1 2 3 4 5 6 7; do
  until "$synod" node peers --dir "a$i" 2>/dev/null | grep -c ' connected' | grep -q 6; do sleep 0.2; done
done
if [ "$stay" = yes ]; then
  "$synod" node page a1 a2 a3 a4 a5 a6 a7 --listen 127.0.0.1:${PAGE:-8400} & pids="$pids $!"
fi
"$synod" ask --roster council.roster --key caller.key --certificate decision.json --show rounds "$question"
"$synod" verify decision.json --roster council.roster
if [ "$stay" = yes ]; then
  echo "ask again with: $synod ask --roster $work/council.roster --key $work/caller.key QUESTION; Ctrl-C ends all"
  wait
fi
