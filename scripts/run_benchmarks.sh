#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every benchmark of the build (programs named bench_*), one after another, so that none disturbs another.
set -euo pipefail

bin=${CHARTER_BUILD:-build}/bin
shopt -s nullglob
benchmarks=("$bin"/bench_*)
if [[ ${#benchmarks[@]} == 0 ]]; then
  echo "run_benchmarks: no bench_* in $bin; was it built with CHARTER_BUILD_BENCH=OFF?" >&2
  exit 66
fi
for benchmark in "${benchmarks[@]}"; do
  echo "== ${benchmark##*/}"
  "$benchmark" "$@"
done
