# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154,SC2034  # shares variables with common/
# What Flux knows about the job (the functions that common/job.sh lists). A batch job is a Flux instance of its own; its number
# and the next job belong to the parent.
scheduler_launcher=flux
scheduler_signals=1 # # flux: --signal=USR2@5m
scheduler_cancelled_status=75

scheduler_check() {
  [[ -n "$(scheduler_job_id)" ]] || refuse 78 "no Flux job is active: submit this file with flux batch, or look at its command with --print"
  [[ "$CHARTER_REQUEUE" != requeue ]] ||
    refuse 78 "CHARTER_REQUEUE=requeue: Flux lets no user requeue a job; it may be auto, resubmit or never"
  [[ "${CHARTER_RANKS_PER_NODE:-}" =~ ^[1-9][0-9]*$ ]] || refuse 78 "CHARTER_RANKS_PER_NODE must be set: ranks on each node of the job"
}

scheduler_job_id() { flux getattr jobid 2>/dev/null; }

# Without a limit, `flux job timeleft` prints a number beyond any job's.
scheduler_end_time() {
  local left
  left=$(flux job timeleft 2>/dev/null)
  left=${left%.*}
  [[ "$left" =~ ^[0-9]{1,8}$ ]] && echo $(($(date +%s) + left))
  return 0
}

scheduler_hosts() {
  local host count
  for host in $(flux hostlist --expand instance 2>/dev/null); do
    for ((count = 0; count < ${CHARTER_RANKS_PER_NODE:-1}; ++count)); do echo "$host"; done
  done
}

scheduler_failed_hosts() { flux hostlist --expand --delimiter=$'\n' --exclude="$(flux hostlist avail)" instance 2>/dev/null; }

scheduler_restarts() { echo 0; }

scheduler_again() {
  if submit_again; then
    exit_status=0
  else
    say "flux batch failed; submit the same script again to go on"
  fi
  return 1
}

submit_again() (
  export CHARTER_CHAIN=$((${CHARTER_CHAIN:-0} + 1)) CHARTER_PREVIOUS_JOB=$CHARTER_JOB_ID
  local flags=("--dependency=afterany:$CHARTER_JOB_ID" "--nodes=$(flux hostlist --count instance)")
  ((${#suspects[@]} > 0)) && flags+=("--requires=-host:$(join , "${suspects[@]}")")
  unset CHARTER_JOB_ID
  flux --parent batch "${flags[@]}" "$0"
)
