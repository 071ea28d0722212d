#!/bin/sh
# Copies the search on 64 nodes (word) to 128 (pair). Run by go generate; a test compares.
for f in word_*.go; do
	{
		printf '// Code generated from %s by go generate; DO NOT EDIT.\n\n' "$f"
		sed 's/word/pair/g; s/Word/Pair/g' "$f"
	} >"pair_${f#word_}"
done
