#!/bin/sh
# Writes likelihood-vs-stated.md from real runs. Needs synod (SYNOD=bin/synod) with
# its model fetched, and jq.
#
#   make model && SYNOD=bin/synod sh docs/research/transcripts/renew.sh
set -eu
synod=${SYNOD:-bin/synod}
question=${1:-What is 9 - 5?}
out=$(dirname "$0")/likelihood-vs-stated.md
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT

run() {
	"$synod" -q ask --home "$home" --json --seed 1 --on-no-consensus best-effort --set protocol.score="$1" "$question" >"$home/$1.json"
	cat <<EOF

## score: $1

    synod ask --seed 1 --set protocol.score=$1 "$question"

EOF
	jq -r '
	def cell: if . == null then "–" else . * 1000 | round / 1000 | tostring end;
	([.members[].id]) as $ids
	| .status + " on **" + .answer + "** after round " + (.rounds[-1].t | tostring) + "; "
	  + (.calls.made | tostring) + " calls, " + (.tokens.completion | tostring) + " tokens written, "
	  + (.seconds * 10 | round / 10 | tostring) + " s; unreadable replies: "
	  + ([.members[].calls.unreadable] | add | tostring),
	(.rounds[] | .t as $t
	  | ([.members[].answer]) as $answers
	  | "",
	    (if $t == 0 then "Round 0, first answers: " + ([.members[] | .id + " " + .answer] | join(", "))
	     else "Round \($t): score that each member (row) gave to each answer (column)",
	      "",
	      "| | " + ($ids | join(" | ")) + " | dropped | next answer |",
	      "|---|" + ($ids | map("---|") | join("")) + "---|---|",
	      (.members[] | . as $m | "| " + .id + " | "
	        + ([$ids[] as $id | $m.scores[$id] | cell] | join(" | ")) + " | "
	        + (.dropped | join(" ")) + " | " + .answer + " |")
	     end))' "$home/$1.json"
}

{
	cat <<EOF
# The same question, with scores stated and scores by likelihood

For those who want to see two ways to score. Written by \`sh docs/research/transcripts/renew.sh\` from two real runs of the default
council: seven seats of SmolLM2-135M-Instruct that differ in seed and
temperature. "Stated": the seat's model writes a number, as in the paper.
"Likelihood": exp of the mean log-probability that the seat's model gives the
answer's text after the question (SAC-12). A dash is a score that could not be
read. In both runs a seat refines by choosing (docs/use/box.md), so the scores decide
only which answers it can choose from. One question is an example and proves nothing.
The times are from a busy machine with two cores.
EOF
	run stated
	run likelihood
} >"$home/page"
mv "$home/page" "$out"
