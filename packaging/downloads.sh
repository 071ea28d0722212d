#!/usr/bin/env bash
# Prints what each program makes a fresh machine download: modules, MB (10^6 bytes of .zip files) and the largest of them.
#
#   packaging/downloads.sh [PROGRAM…]      # such as synod synod-serve; default: all
set -euo pipefail
cd "$(dirname "$0")/.."
declare -A places=([synod]=". ./cmd/synod" [synod-serve]="cmd/synod-serve" [synod-node]="cmd/synod-node"
	[synod-lab]="cmd/synod-lab" [synod-parquet]="bench/parquet" [synod-cometbft]="record/ledger/cometbft ./synod-cometbft")
cache=$(mktemp -d)
trap 'chmod -R u+w "$cache"; rm -rf "$cache"' EXIT
[ $# -gt 0 ] || set -- synod synod-serve synod-node synod-lab synod-parquet synod-cometbft
printf '%-15s %8s %8s  %s\n' program modules MB "the largest"
for program; do
	read -r folder package <<<"${places[$program]}"
	export GOMODCACHE="$cache/$program"
	(cd "$folder" && go list -deps "${package:-.}" >/dev/null 2>"$cache/log") || { cat "$cache/log" >&2; exit 1; }
	find "$GOMODCACHE/cache/download" -name '*.zip' ! -path '*/golang.org/toolchain/*' -printf '%s %P\n' | sort -rn |
		awk -v program="$program" '{ n++; sum += $1; sub("/@v/.*", "", $2)
			if (n <= 3) top = top sprintf("%s%s %.1f", n > 1 ? ", " : "", $2, $1 / 1e6) }
			END { printf "%-15s %8d %8.1f  %s\n", program, n, sum / 1e6, top }'
	chmod -R u+w "$GOMODCACHE" && rm -rf "$GOMODCACHE"
done
