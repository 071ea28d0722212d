#!/usr/bin/env bash
# Tries the programs of a folder, as an archive or the packages install them: a question, the gateway, a node and a
# worker, each with simulated members.
#
#   packaging/try.sh FOLDER      # with synod, synod-serve, synod-node and synod-lab
set -euo pipefail
synod=$(cd "$1" && pwd)/synod
work=$(mktemp -d)
pids=()
stop() {
	kill "${pids[@]}" 2>/dev/null || true
	wait
	rm -rf "$work"
}
trap stop EXIT
cd "$work"
export SYNOD_HOME=$work/home
mkdir home

# listens LOG waits until a program says where it listens, and prints the address.
listens() {
	for _ in $(seq 300); do
		if grep -om1 'listening on .*' "$1" | cut -d ' ' -f 3; then return; fi
		sleep 0.2
	done
	cat "$1" >&2
	return 1
}

cat >one.yaml <<'END'
protocol: {name: majority}
f: 0
models: {d: {provider: simulated, ability: 1}}
seats: [{id: a, model: d}]
END
[ "$("$synod" ask -q -c one.yaml "What is 17 + 25?")" = 42 ]
echo "ask: ok"

mkdir councils
cp one.yaml councils/
"$synod" serve --listen 127.0.0.1:0 --councils councils 2>serve.log &
pids+=($!)
curl -sf "$(listens serve.log)/v1/chat/completions" -H 'Content-Type: application/json' -d '{"model": "one",
	"messages": [{"role": "user", "content": "What is 17 + 25?"}]}' | grep -q '"content":"42"'
echo "serve: ok"

key=$("$synod" node init a.key 2>/dev/null)
me=$("$synod" node init me.key 2>/dev/null)
"$synod" roster new -c one.yaml --member "a=$key@127.0.0.1:7491" --caller "me=$me" -o one.roster 2>/dev/null
"$synod" roster sign one.roster --key a.key --yes 2>/dev/null
"$synod" node run --roster one.roster --key a.key --dir a 2>node.log &
pids+=($!)
listens node.log >/dev/null
[ "$("$synod" ask -q --roster one.roster --key me.key "What is 17 + 25?")" = 42 ]
echo "node: ok"

cat >study.yaml <<'END'
experiment: trial
base:
  task: questions.jsonl
  f: 0
  models: {d: {provider: simulated, ability: 1}}
  seats: [{id: a, model: d, count: 3}]
axes:
  protocol: [majority, debate]
END
echo '{"id": "q1", "question": "What is 17 + 25?", "answer": "42"}' >questions.jsonl
"$synod" bench hub study.yaml -o hub --listen 127.0.0.1:0 2>hub.log &
hub=$!
pids+=("$hub")
address=$(listens hub.log)
"$synod" bench worker --hub "$address" --trust 2>worker.log
wait "$hub"
"$synod" bench report hub --format json | grep -q '"finished": *2'
echo "worker: ok"
