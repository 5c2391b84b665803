#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The job of `make run`: fine-tunes the tiny model of data/tiny_world on 2 ranks. Where a Slurm controller answers and no
# job is active, this is a login node: nothing runs here, and the line that submits the job is printed.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
bin=${CHARTER_BUILD:-build}/bin

if [[ -z "${SLURM_JOB_ID:-}" ]] && command -v scontrol >/dev/null && scontrol ping 2>/dev/null | grep -q UP; then
  echo "A Slurm controller answers and no job is active: built only. To run it, submit:"
  echo "  sbatch --ntasks=2 --time=10 --output=tiny-world-%j.out --wrap 'make run CHARTER_SKIP_SETUP=1'"
  exit 0
fi

scripts/mpirun.sh 2 "$bin/sft_train" \
  --model data/tiny_world --random-start \
  --data data/tiny_world/train.jsonl \
  --run-dir runs/tiny-world \
  --max-steps 300 \
  --global-batch 16 \
  --micro-batch 8 \
  --max-length 128 \
  --lr 3e-3 --warmup 10 \
  --validation-fraction 0.1 --eval-every 50
echo "the model is in runs/tiny-world; try: $bin/text_gen --model runs/tiny-world --prompt 'What does Mira do?'"
