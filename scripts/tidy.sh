#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy over the sources in the compile database: tidy.sh [PATH ...]. Without paths all of them, with CHANGED=1 those
# that differ from the last commit (a changed header stands for the .cpp next to it). Warnings are errors (.clang-tidy).
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${CHARTER_BUILD:-build}
jobs=${JOBS:-2}

patterns=()
if [[ $# -gt 0 ]]; then
  for path in "$@"; do patterns+=("$PWD/${path%/}(/|\$)"); done
elif [[ "${CHANGED:-}" == 1 ]]; then
  while read -r file; do
    [[ -e "${file%.hpp}.cpp" ]] && file=${file%.hpp}.cpp
    [[ "$file" == *.cpp && -e "$file" ]] && patterns+=("$PWD/$file\$")
  done < <(
    git diff --name-only HEAD
    git ls-files --others --exclude-standard
  )
  [[ ${#patterns[@]} -gt 0 ]] || { echo "tidy: no C++ file has changed"; exit 0; }
else
  patterns=("$PWD/(src|modules|apps|tests|bench)/")
fi
extra=()
if clang-tidy --version | grep -qE 'version 1[0-4]\.'; then
  extra+=("-extra-arg=-isystem$PWD/cmake/clang14")
fi
run-clang-tidy -quiet -p "$build" -j "$jobs" "${extra[@]}" \
  -header-filter="$PWD/(src|modules|apps|tests|bench)/" "${patterns[@]}"
