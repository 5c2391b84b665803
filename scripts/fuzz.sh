#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fuzzes the readers: fuzz.sh [TARGET ...], all of tests/fuzz without one, FUZZ_SECONDS (60) each, starting from the kept
# files in tests/fuzz/corpus and what earlier searches kept in build-fuzz/corpus. An input that is a fault is left in
# build-fuzz/found. --build only builds; --built builds nothing.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
seconds=${FUZZ_SECONDS:-60}
jobs=${JOBS:-2}

mode=all
case ${1:-} in
  --build | --built) mode=${1#--} && shift ;;
esac
if [[ $mode != built ]]; then
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  # The steps of a build are of interest only where one fails.
  if ! { cmake --preset fuzz && cmake --build build-fuzz --parallel "$jobs" --target fuzz_targets; } >"$log" 2>&1; then
    cat "$log" >&2
    echo "fuzz: the targets cannot be built (clang with libFuzzer: scripts/setup.sh develop)" >&2
    exit 78
  fi
  [[ $mode == build ]] && exit 0
fi

targets=("$@")
if [[ ${#targets[@]} -eq 0 ]]; then
  for source in tests/fuzz/*_fuzz.cpp; do targets+=("$(basename "$source" _fuzz.cpp)"); done
fi
failed=()
for target in "${targets[@]}"; do
  if [[ ! -x build-fuzz/bin/fuzz_$target ]]; then
    echo "fuzz: there is no target $target; the targets are the files tests/fuzz/*_fuzz.cpp" >&2
    exit 64
  fi
  mkdir -p "build-fuzz/corpus/$target" build-fuzz/found
  echo "fuzz: $target for $seconds s"
  # No input takes 10 s, 1 GiB in all or 256 MiB at once. But the HDF5 library asks for whatever length stands in its own
  # metadata, and refuses the file when the system refuses the memory; and it keeps what it has, which is no leak.
  options=detect_leaks=0 most_at_once=256
  [[ $target == hdf5_part ]] && options+=:allocator_may_return_null=1 && most_at_once=0
  ASAN_OPTIONS=$options "build-fuzz/bin/fuzz_$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 \
    -malloc_limit_mb=$most_at_once -max_len=65536 -print_final_stats=1 -verbosity=1 -dict=tests/fuzz/words.dict \
    -artifact_prefix="build-fuzz/found/$target-" "build-fuzz/corpus/$target" "tests/fuzz/corpus/$target" ||
    failed+=("$target")
done
if [[ ${#failed[@]} -gt 0 ]]; then
  echo "fuzz: faults in ${failed[*]}; the inputs are in build-fuzz/found. Mend the reader, then keep the input in" \
    "tests/fuzz/corpus" >&2
  exit 1
fi
