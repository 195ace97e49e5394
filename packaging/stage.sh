#!/bin/sh
# stage.sh PMG DIRECTORY [RUNS] collects in a directory what archives and packages have: the program
# PMG, its unit, examples, documents, manual pages, completions and alerts. These are made by RUNS, which is PMG unless
# that is for another machine. SOURCE_DATE_EPOCH is the time of every file.
set -eu
cd "$(dirname "$0")/.."
umask 022
pmg=$1 to=$2 runs=${3:-$1}
mkdir -p "$to/completions" "$to/monitoring" "$to/docs"
cp "$pmg" "$to/pmg"
chmod 0755 "$to/pmg"
cp LICENSE README.md CHANGELOG.md SECURITY.md packaging/pmg.service packaging/pmg.socket packaging/pmg.yaml "$to"
cp docs/monitoring/* "$to/monitoring"
cp docs/*.md "$to/docs"
cp -r packaging/examples "$to"
"$runs" manual "$to/man"
"$runs" completion bash >"$to/completions/pmg.bash"
"$runs" completion zsh >"$to/completions/_pmg"
"$runs" completion fish >"$to/completions/pmg.fish"
find "$to" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
