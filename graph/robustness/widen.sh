#!/bin/sh
# Copies the search on sets of 64 nodes to sets of 128. Run by go generate; TestWidened checks that the copies are current.
for f in search64.go bound64.go drive64.go; do
	{
		printf '// Code generated from %s by go generate; DO NOT EDIT.\n\n' "$f"
		sed 's/64/128/g; s/uint128/uint64/g' "$f"
	} | gofmt >"${f%64.go}128.go"
done
