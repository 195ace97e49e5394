#!/bin/sh
# deb.sh STAGE ARCH VERSION PACKAGE makes a Debian package of what stage.sh has collected.
set -eu
stage=$(realpath "$1") out=$(realpath "$4")
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022
cp -a "$stage" "$work/stage"
cp postinst prerm postrm copyright lintian-overrides "$work/stage"
sed -i 's|runbook: docs/|runbook: file:///usr/share/doc/pmg/docs/|' "$work"/stage/monitoring/*.yaml
mkdir "$work/stage/man.gz"
for page in "$work"/stage/man/*; do gzip -9nc "$page" >"$work/stage/man.gz/${page##*/}.gz"; done
gzip -9nc "$work/stage/CHANGELOG.md" >"$work/stage/CHANGELOG.md.gz"
gzip -9nc >"$work/stage/changelog.gz" <<EOF
pmg (${3#v}) unstable; urgency=medium

  * What has changed is in CHANGELOG.md.gz.

 -- PMG <pmg@localhost>  $(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")
EOF
cp nfpm.yaml "$work"
find "$work" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
cd "$work"
ARCH=$2 VERSION=$3 ${NFPM:-go run github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.4} package -f nfpm.yaml -p deb -t "$out" >"$work/log" || { cat "$work/log" >&2; exit 1; }
