#!/bin/sh
# sbom.sh PMG VERSION prints the modules in a program as CycloneDX 1.5, from what go has written into it.
set -eu
go version -m "$1" | awk -v version="$2" '
  BEGIN {
    printf "{\n\"bomFormat\":\"CycloneDX\",\"specVersion\":\"1.5\",\"version\":1,\n"
    printf "\"metadata\":{\"component\":{\"type\":\"application\",\"bom-ref\":\"pmg\",\"name\":\"pmg\",\"version\":\"%s\"}},\n\"components\":[", version
  }
  NR == 1 { add("std", substr($NF, 3)) }
  $1 == "dep" { add($2, $3) }
  function add(name, v) {
    printf "%s\n{\"type\":\"library\",\"bom-ref\":\"%s@%s\",\"name\":\"%s\",\"version\":\"%s\",\"purl\":\"pkg:golang/%s@%s\"}", comma, name, v, name, v, name, v
    comma = ","
  }
  END { print "\n]\n}" }'
