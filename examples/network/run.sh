#!/bin/sh
# Starts a council of seven nodes on seven loopback addresses, each a process with its own key, and a page
# that shows them. Then it asks a question, writes a certificate and checks it. With "stay" the nodes go on
# until Ctrl-C. PROTOCOL= is sac, cp-wbft, decentllms, rotating-leader or game: the council file of that
# name here. With LINKS=libp2p they use go-libp2p.
#
#   [PROTOCOL=game] examples/network/run.sh [stay] [QUESTION]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
synod=${SYNOD:-$here/../../bin/synod}
council=$here/${PROTOCOL:-sac}.yaml
if [ ! -f "$council" ]; then
  echo "PROTOCOL is ${PROTOCOL}; it must be one of: $(cd "$here" && ls ./*.yaml | sed 's,^./,,; s,\.yaml$,,' | xargs)" >&2
  exit 2
fi
stay=no
if [ "${1:-}" = stay ]; then stay=yes; shift; fi
question=${1:-What is 17 + 25?}
work=$(mktemp -d "${TMPDIR:-/tmp}/synod-net.XXXXXX")
pids=
stop() { for p in $pids; do kill "$p" 2>/dev/null || true; done; wait; rm -rf "$work"; }
trap stop EXIT
trap 'exit 130' INT TERM

cd "$work"
seats="a1 a2 a3 a4 a5 a6 a7"
if [ "${PROTOCOL:-}" = decentllms ]; then seats="w1 w2 w3 e1 e2 e3 e4"; fi
members= n=0
for s in $seats; do
  n=$((n + 1))
  key=$("$synod" node init "$s.key" 2>/dev/null)
  members="$members --member $s=$key@127.0.0.$n:7400"
done
caller=$("$synod" node init caller.key 2>/dev/null)
"$synod" roster new -c "$council" $members --caller "me=$caller" --links "${LINKS:-tls}" -o council.roster
for s in $seats; do "$synod" roster sign council.roster --key "$s.key" --yes 2>/dev/null; done
"$synod" roster verify council.roster
for s in $seats; do
  "$synod" node run --roster council.roster --key "$s.key" --dir "$s" 2>"$s.log" & pids="$pids $!"
done
for s in $seats; do
  until "$synod" node peers --dir "$s" 2>/dev/null | grep -c ' connected' | grep -q 6; do sleep 0.2; done
done
if [ "$stay" = yes ]; then
  "$synod" node page $seats --listen 127.0.0.1:${PAGE:-8400} & pids="$pids $!"
fi
"$synod" ask --roster council.roster --key caller.key --certificate decision.json --show rounds "$question"
"$synod" verify decision.json --roster council.roster
if [ "$stay" = yes ]; then
  echo "ask again with: $synod ask --roster $work/council.roster --key $work/caller.key QUESTION; Ctrl-C ends all"
  wait
fi
