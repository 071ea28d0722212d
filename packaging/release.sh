#!/usr/bin/env bash
# Builds dist/: an archive of all programs for each platform, a Debian package of each program for Linux, and SHA256SUMS.
# Two runs on one commit give the same bytes: times are the commit's, and owners and the order of files are fixed. Needs
# GNU tar. PLATFORMS names the platforms.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${GO:=go}" "${PLATFORMS:=linux/amd64 linux/arm64 darwin/amd64 darwin/arm64}"
nfpm=github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.0
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export CGO_ENABLED=0 SOURCE_DATE_EPOCH
VERSION=$($GO run ./cmd/synod --version | cut -d ' ' -f 2)
export VERSION

# The program, the folder of its module and its package there.
programs=(
	"synod . ./cmd/synod"
	"synod-serve cmd/synod-serve ."
	"synod-node cmd/synod-node ."
	"synod-lab cmd/synod-lab ."
	"synod-parquet bench/parquet ."
	"synod-cometbft record/ledger/cometbft ./synod-cometbft"
)

# package PROGRAM ARCH FOLDER makes the Debian package of a program that was built in a folder.
package() {
	local config=packaging/nfpm.yaml
	[ "$1" = synod ] || config=packaging/nfpm-program.yaml
	PROGRAM=$1 ARCH=$2 BINARY=$3/$1 SHARE=$share $GO run "$nfpm" package \
		--config "$config" --packager deb --target "dist/$1_${VERSION}_$2.deb"
}

rm -rf dist
share=dist/share
$GO run -trimpath -buildvcs=auto ./internal/manual "$share"

for platform in $PLATFORMS; do
	os=${platform%/*} arch=${platform#*/}
	name=synod-$VERSION-$os-$arch
	mkdir -p "dist/$name"
	for row in "${programs[@]}"; do
		read -r program module folder <<<"$row"
		GOOS=$os GOARCH=$arch $GO build -C "$module" -trimpath -buildvcs=auto -ldflags '-s -w' \
			-o "$PWD/dist/$name/$program" "$folder"
		[ "$os" != linux ] || package "$program" "$arch" "dist/$name"
	done
	cp -r LICENSE README.md docs examples "$share" "dist/$name/"
	tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw -C dist -cf - "$name" |
		gzip -9n >"dist/$name.tar.gz"
	rm -r "dist/${name:?}"
done
rm -r "$share"
(cd dist && sha256sum -- *.tar.gz *.deb >SHA256SUMS && cat SHA256SUMS)
