#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Holds the seconds of a test run against CI's budgets: print_budget.sh OUTPUT BUILD. OUTPUT is the text of `make test` with
# a line "build seconds N" at its end. Every test has one of the labels (tests/architecture/test_kinds_test.cmake).
set -euo pipefail

output=$1
build=$2

labels=$(mktemp)
trap 'rm -f "$labels"' EXIT
for label in unit ranks faults apps fuzz; do
  ctest --test-dir "$build" -N -L "^$label\$" 2>/dev/null |
    sed -n "s/^ *Test *#[0-9]*: \(.*\)/\1 $label/p" >>"$labels" || true
done

# Lines of CTest: " 3/20 Test  #5: name.np2 ......   Passed    0.12 sec".
awk -v labels="$labels" '
  BEGIN {
    while ((getline line < labels) > 0) {
      split(line, part, " ")
      label[part[1]] = part[2]
    }
    count = split("build unit ranks faults apps fuzz", names, " ")
    split("480 240 480 240 240 240", budgets, " ")
  }
  /^ *[0-9]+\/[0-9]+ +Test +#[0-9]+:/ {
    for (i = 1; i <= NF; ++i) if ($i ~ /^#[0-9]+:$/) test = $(i + 1)
    for (i = NF; i > 1; --i) if ($i == "sec") { seconds[label[test]] += $(i - 1); break }
  }
  /^build seconds / { seconds["build"] = $3 }
  END {
    for (i = 1; i <= count; ++i) {
      spent = seconds[names[i]] + 0
      printf "budget %-6s %6.0f s of %d s%s\n", names[i], spent, budgets[i], (spent > budgets[i] ? "  OVER" : "")
    }
  }' "$output"
