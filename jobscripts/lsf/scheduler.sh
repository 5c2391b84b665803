# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154,SC2034  # shares variables with common/
# What LSF knows about the job (the functions that common/job.sh lists). It requeues by exit code itself (#BSUB -Q).
scheduler_launcher=mpirun
scheduler_signals=1 # #BSUB -wa USR2 -wt 5
# Not 75, which would requeue a job that was killed on purpose.
scheduler_cancelled_status=143

scheduler_check() {
  [[ -n "${LSB_JOBID:-}" ]] || refuse 78 "no LSF job is active: submit this file with bsub < FILE, or look at its command with --print"
}

scheduler_job_id() { echo "$LSB_JOBID"; }

# LSF tells no job when it ends; the signal of -wa comes in time. CHARTER_TIME_LIMIT adds --stop-before.
scheduler_end_time() { :; }

scheduler_hosts() {
  if [[ -n "${LSB_DJOB_HOSTFILE:-}" ]]; then
    cat "$LSB_DJOB_HOSTFILE"
  else
    tr ' ' '\n' <<<"${LSB_HOSTS:-}"
  fi
}

scheduler_failed_hosts() { :; }

# A requeued job keeps its number and is told nothing; each start left a record.
scheduler_restarts() {
  local records=("$run_dir/environment/"*".$CHARTER_JOB_ID.1.txt")
  echo $((${#records[@]} - 1))
}

scheduler_again() {
  if [[ "$CHARTER_REQUEUE" != resubmit ]]; then
    say "exit 75: LSF requeues job $LSB_JOBID, as #BSUB -Q says"
    return 1
  fi
  if submit_again; then
    exit_status=0
  else
    say "bsub failed; submit the same script again to go on"
  fi
  return 1
}

submit_again() (
  export CHARTER_CHAIN=$((${CHARTER_CHAIN:-0} + 1)) CHARTER_PREVIOUS_JOB=$LSB_JOBID
  unset CHARTER_JOB_ID
  local flags=(-w "ended($LSB_JOBID)" -J "$LSB_JOBNAME" -q "$LSB_QUEUE") host
  for host in "${suspects[@]}"; do flags+=(-R "select[hname!='$host']"); done
  bsub "${flags[@]}" <"$0"
)
