#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every benchmark (bench/NAME.cpp makes build/bin/NAME), one after another, so that none disturbs another.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
bin=${CHARTER_BUILD:-build}/bin
for source in bench/*.cpp; do
  name=$(basename "$source" .cpp)
  if [[ ! -x $bin/$name ]]; then
    echo "run_benchmarks: $bin/$name is missing; was it built with CHARTER_BUILD_BENCH=OFF?" >&2
    exit 66
  fi
  echo "== $name"
  "$bin/$name"
done
echo "== measure_start"
scripts/measure_start.sh
