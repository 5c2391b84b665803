# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154,SC2034  # shares variables with common/
# What Slurm knows about the job (the functions that common/job.sh lists).
scheduler_launcher=srun
scheduler_signals=1 # #SBATCH --signal=B:USR2@300
scheduler_cancelled_status=75

scheduler_check() {
  [[ -n "${SLURM_JOB_ID:-}" ]] || refuse 78 "no Slurm job is active: submit this file with sbatch, or look at its command with --print"
}

scheduler_job_id() { echo "$SLURM_JOB_ID"; }

# Before 23.02 there is no variable.
scheduler_end_time() {
  local end=${SLURM_JOB_END_TIME:-}
  if [[ -z "$end" && -n "${SLURM_JOB_ID:-}" ]]; then
    end=$(squeue -h -j "$SLURM_JOB_ID" -o %e 2>/dev/null)
    [[ -n "$end" ]] && end=$(date -d "$end" +%s 2>/dev/null)
  fi
  echo "$end"
}

# SLURM_TASKS_PER_NODE is like "2(x3),1".
scheduler_hosts() {
  local nodes=() tasks=() group node count index=0
  [[ -n "${SLURM_JOB_NODELIST:-}" ]] || return 0
  mapfile -t nodes < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
  IFS=, read -r -a groups <<<"${SLURM_TASKS_PER_NODE:-1}"
  for group in "${groups[@]}"; do
    count=1
    [[ "$group" =~ \(x([0-9]+)\)$ ]] && count=${BASH_REMATCH[1]}
    while ((count-- > 0)); do tasks+=("${group%%(*}"); done
  done
  for node in "${nodes[@]}"; do
    for ((count = ${tasks[index]:-1}; count > 0; --count)); do echo "$node"; done
    index=$((index + 1))
  done
}

scheduler_failed_hosts() { sinfo -h -N -n "$SLURM_JOB_NODELIST" -t down,drain,fail -o %N 2>/dev/null | sort -u; }

scheduler_restarts() { echo "${SLURM_RESTART_COUNT:-0}"; }

scheduler_again() {
  if [[ "$CHARTER_REQUEUE" != resubmit ]]; then
    if requeue; then
      say "requeued: job $SLURM_JOB_ID goes on later"
      return 1
    fi
    if [[ "$CHARTER_REQUEUE" == requeue ]]; then
      say "Slurm refused to requeue (CHARTER_REQUEUE=requeue); submit the same script again to go on"
      return 1
    fi
    say "Slurm refused to requeue; submitting the script anew"
  fi
  if submit_again; then
    exit_status=0
  else
    say "sbatch failed; submit the same script again to go on"
  fi
  return 1
}

# Granting it, Slurm ends the whole job with TERM: the commands must live to say that it was granted, and to keep the next start
# away from suspected hosts, which can be said of a waiting job only.
requeue() (
  trap '' TERM
  scontrol requeue "$SLURM_JOB_ID" || exit 1
  ((${#suspects[@]} == 0)) && exit 0
  unwanted=("${suspects[@]}")
  excluded_before=$(scontrol -o show job "$SLURM_JOB_ID" | sed -n 's/.* ExcNodeList=\([^ ]*\).*/\1/p')
  [[ -n "$excluded_before" && "$excluded_before" != "(null)" ]] && unwanted+=("$excluded_before")
  for ((attempt = 0; attempt < 10; ++attempt)); do
    scontrol update "JobId=$SLURM_JOB_ID" "ExcNodeList=$(join , "${unwanted[@]}")" && exit 0
    sleep 1
  done
  say "Slurm would not exclude ${suspects[*]} from the next start"
  exit 0
)

# The script as it was submitted (Slurm keeps a copy), to run once all jobs of this name have ended. What its #SBATCH lines
# may not say because it stood on the command line is taken over from this job.
submit_again() (
  local flags=("--dependency=singleton" "--job-name=$SLURM_JOB_NAME" "--nodes=$SLURM_JOB_NUM_NODES") limit
  limit=$(squeue -h -j "$SLURM_JOB_ID" -o %l)
  [[ -n "$limit" ]] && flags+=("--time=$limit")
  [[ -n "${SLURM_NTASKS:-}" ]] && flags+=("--ntasks=$SLURM_NTASKS")
  [[ -n "${SLURM_NTASKS_PER_NODE:-}" ]] && flags+=("--ntasks-per-node=$SLURM_NTASKS_PER_NODE")
  [[ -n "${SLURM_CPUS_PER_TASK:-}" ]] && flags+=("--cpus-per-task=$SLURM_CPUS_PER_TASK")
  [[ -n "${SLURM_JOB_PARTITION:-}" ]] && flags+=("--partition=$SLURM_JOB_PARTITION")
  [[ -n "${SLURM_JOB_ACCOUNT:-}" ]] && flags+=("--account=$SLURM_JOB_ACCOUNT")
  [[ -n "${SLURM_JOB_QOS:-}" ]] && flags+=("--qos=$SLURM_JOB_QOS")
  ((${#suspects[@]} > 0)) && flags+=("--exclude=$(join , "${suspects[@]}")")
  export CHARTER_CHAIN=$((${CHARTER_CHAIN:-0} + ${SLURM_RESTART_COUNT:-0} + 1)) CHARTER_PREVIOUS_JOB=$SLURM_JOB_ID
  # sbatch hands its environment on; this job's variables must not look like the next one's.
  local name
  for name in "${!SLURM_@}"; do
    [[ "$name" == SLURM_CONF ]] || unset "$name"
  done
  unset CHARTER_JOB_ID
  sbatch "${flags[@]}" "$0"
)
