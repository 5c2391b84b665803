#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fine-tuning on this machine, without a scheduler. Copy this file, set what stands between the lines, and run the copy from
# Charter's folder (or set CHARTER_HOME to it). It starts the program again after a stop with a checkpoint or the death of a
# rank. docs/local.md explains the rest. `bash my_job.sh --print` shows the command without running it.

# ---- set these ------------------------------------------------------------------------------------------------------------
CHARTER_RANKS=${CHARTER_RANKS:-$(nproc)}
model=models/smollm2
data=examples.jsonl
run_dir=runs/sft
options=(--epochs 1 --global-batch 64 --micro-batch 2 --max-length 1024 --lr 2e-5 --save-every 100)
# ---------------------------------------------------------------------------------------------------------------------------

CHARTER_HOME=${CHARTER_HOME:-$PWD}
# shellcheck source=jobscripts/common/job.sh
source "$CHARTER_HOME/jobscripts/common/job.sh" || {
  echo "run this from the folder of Charter, or set CHARTER_HOME to it" >&2
  exit 66
}
charter_job local "$run_dir" sft_train --model "$model" --data "$data" "${options[@]}" -- "$@"
