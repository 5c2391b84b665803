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
# A compile database that names every file by itself.
cmake -S . -B "$build/tidy" -G Ninja -DCHARTER_COMPILE_TOGETHER=OFF > /dev/null
# Version 22, which is the first to pass over the declarations of system headers: Debian's default (14) takes four times
# the time over them. One version also means one set of findings. omp.h is GCC's, after clang's own headers.
run-clang-tidy-22 -clang-tidy-binary clang-tidy-22 -quiet -p "$build/tidy" -j "$jobs" \
  -extra-arg="-idirafter$(g++ -print-file-name=include)" \
  -header-filter="$PWD/(src|modules|apps|tests|bench)/" "${patterns[@]}"
