#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Where the time from the start of sft_train to the end of its first step goes, on 1 and 4 ranks, with SmolLM2 (make smollm2).
# Usage: measure_start.sh [ranks ...]. Four ranks take 9 GB of memory; the run folders, in $TMPDIR, 1.7 GB each.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
bin=${CHARTER_BUILD:-build}/bin
model=${CHARTER_MODELS:-models}/smollm2
if [[ ! -e $model/config.json ]]; then
  echo "measure_start: left out, $model is missing: make smollm2"
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[[ $# -gt 0 ]] || set -- 1 4
for ranks in "$@"; do
  if ! scripts/mpirun.sh "$ranks" "$bin/sft_train" --model "$model" --data data/tiny_world/train.jsonl \
    --run-dir "$work/run" --max-length 256 --micro-batch 1 --global-batch 4 --max-steps 1 --save-every 0 \
    > "$work/output" 2>&1; then
    cat "$work/output" >&2
    exit 1
  fi
  start=$(sed -n 's/.* info: start: //p' "$work/run/log.txt")
  step=$(sed -n 's/.*"step_s":\([0-9.e-]*\).*/\1/p' "$work/run/metrics.jsonl" | head -n 1)
  echo "$ranks ranks: $start; first step $step s"
  rm -rf "$work/run"
done
