#!/bin/sh
# release.sh VERSION REVISION DIST makes in DIST the archives, the Debian packages, their lists of
# modules (SBOM, CycloneDX) and SHA256SUMS. The same revision gives the same octets.
set -eu
cd "$(dirname "$0")/.."
version=$1 revision=$2 dist=$(realpath "$3")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}" TZ=UTC LC_ALL=C GOFLAGS=

rm -rf "$dist"
mkdir -p "$dist"
host=$(go env GOHOSTOS)-$(go env GOHOSTARCH)
for target in "$host" linux-amd64 linux-arm64 darwin-arm64; do
  [ ! -e "$work/$target" ] || continue
  mkdir "$work/$target"
  for program in ./cmd/pmg loadtest/cmd/pmgload; do # the second is of another module
    (cd "${program%%/*}" && CGO_ENABLED=0 GOOS=${target%-*} GOARCH=${target#*-} go build -buildvcs=false -trimpath \
      -ldflags "-s -w -buildid= -X main.version=$version -X main.revision=$revision" -o "$work/$target/" "./${program#*/}")
  done
done
for target in linux-amd64 linux-arm64 darwin-arm64; do
  name=pmg-$version-$target
  packaging/stage.sh "$work/$target" "$work/$name" "$work/$host"
  tar -C "$work" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --format=ustar -cf - "$name" |
    gzip -9n >"$dist/$name.tar.gz"
  packaging/sbom.sh "$work/$target/pmg" "$version" >"$dist/$name.cdx.json"
  case $target in
  linux-*) packaging/deb.sh "$work/$name" "${target#*-}" "$version" "$dist/pmg_${version#v}_${target#*-}.deb" ;;
  esac
done
cd "$dist"
sha256sum -- * >"$work/sums"
mv "$work/sums" SHA256SUMS
