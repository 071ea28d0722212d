#!/usr/bin/env bash
# Builds synod from the present commit in two clones, in folders of different names, with the Makefile, and compares the
# binaries.
set -euo pipefail
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
for folder in one another-folder/with/a/longer/name; do
	git clone --quiet --no-hardlinks . "$tmp/$folder"
	git -C "$tmp/$folder" checkout --quiet "$(git rev-parse HEAD)"
	make --no-print-directory -C "$tmp/$folder" synod >/dev/null
	"$tmp/$folder/bin/synod" --version
	sha256sum "$tmp/$folder/bin/synod" | cut -d ' ' -f 1 >>"$tmp/sums"
done
[ "$(sort -u "$tmp/sums" | wc -l)" = 1 ] || {
	echo "the binaries differ:"
	cat "$tmp/sums"
	exit 1
}
echo "the same binary from two folders: $(head -1 "$tmp/sums")"
