#!/usr/bin/env bash
# Builds dist/: an archive for each platform, Debian packages for Linux, and SHA256SUMS. Two runs on one commit give the
# same bytes: times are the commit's, and owners and the order of files are fixed. Needs GNU tar.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${GO:=go}"
nfpm=github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.0
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export CGO_ENABLED=0 SOURCE_DATE_EPOCH
VERSION=$($GO run ./cmd/synod --version | cut -d ' ' -f 2)
export VERSION

rm -rf dist
share=dist/share
$GO run -trimpath -buildvcs=auto ./internal/manual "$share"

for os in linux darwin; do
	for arch in amd64 arm64; do
		name=synod-$VERSION-$os-$arch
		mkdir -p "dist/$name"
		GOOS=$os GOARCH=$arch $GO build -trimpath -buildvcs=auto -ldflags '-s -w' -o "dist/$name/synod" ./cmd/synod
		cp -r LICENSE README.md docs "$share" "dist/$name/"
		tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw -C dist -cf - "$name" |
			gzip -9n >"dist/$name.tar.gz"
		if [ $os = linux ]; then
			ARCH=$arch BINARY=dist/$name/synod SHARE=$share $GO run "$nfpm" package \
				--config packaging/nfpm.yaml --packager deb --target "dist/synod_${VERSION}_$arch.deb"
		fi
		rm -r "dist/${name:?}"
	done
done
rm -r "$share"
(cd dist && sha256sum -- *.tar.gz *.deb >SHA256SUMS && cat SHA256SUMS)
