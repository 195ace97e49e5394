#!/bin/sh
# stage.sh PROGRAMS DIRECTORY [RUN] collects in a directory what archives and packages have: pmg and pmgload of the directory
# PROGRAMS, the unit, examples, documents, manual pages, completions and alerts. Manual pages and completions are written by the
# programs of RUN, which is PROGRAMS unless those are for another machine. SOURCE_DATE_EPOCH is the time of every file.
set -eu
cd "$(dirname "$0")/.."
umask 022
programs=$1 to=$2 run=${3:-$1}
mkdir -p "$to/completions" "$to/monitoring" "$to/docs"
cp "$programs/pmg" "$programs/pmgload" "$to"
chmod 0755 "$to/pmg" "$to/pmgload"
cp LICENSE README.md CHANGELOG.md SECURITY.md packaging/pmg.service packaging/pmg.socket packaging/pmg.yaml "$to"
cp docs/monitoring/* "$to/monitoring"
cp docs/*.md "$to/docs"
cp -r packaging/examples "$to"
for program in pmg pmgload; do
  "$run/$program" manual "$to/man"
  "$run/$program" completion bash >"$to/completions/$program.bash"
  "$run/$program" completion zsh >"$to/completions/_$program"
  "$run/$program" completion fish >"$to/completions/$program.fish"
done
find "$to" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
