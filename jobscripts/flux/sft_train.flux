#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fine-tuning under Flux. Copy this file, set what stands between the lines, and submit the copy from Charter's folder (or set
# CHARTER_HOME to it): flux batch my_job.flux. A queue or bank must stand in the copy, because the script submits itself again.
# docs/flux.md explains the head and the rest. `bash my_job.flux --print` shows the command without running it.
# flux: --job-name=sft_train
# flux: --nodes=1
# flux: --exclusive
# flux: --time-limit=2h
# flux: --signal=USR2@5m
# flux: --output=sft_train-{{id}}.out
# flux: -o exit-timeout=none

# ---- set these ------------------------------------------------------------------------------------------------------------
export CHARTER_RANKS_PER_NODE=8
model=models/smollm2
data=examples.jsonl
run_dir=runs/sft
options=(--epochs 1 --global-batch 64 --micro-batch 2 --max-length 1024 --lr 2e-5 --save-every 100)
# ---------------------------------------------------------------------------------------------------------------------------

CHARTER_HOME=${CHARTER_HOME:-$PWD}
# shellcheck source=jobscripts/common/job.sh
source "$CHARTER_HOME/jobscripts/common/job.sh" || {
  echo "submit from the folder of Charter, or set CHARTER_HOME to it" >&2
  exit 66
}
charter_job flux "$run_dir" sft_train --model "$model" --data "$data" "${options[@]}" -- "$@"
