# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154,SC2034  # shares variables with common/
# What PBS Professional and OpenPBS know about the job (the functions that common/job.sh lists). They send no signal before
# the end and let users requeue nothing: the script keeps a timer and submits itself again.
scheduler_launcher=mpirun
scheduler_signals=0
scheduler_cancelled_status=75

scheduler_check() {
  [[ -n "${PBS_JOBID:-}" ]] || refuse 78 "no PBS job is active: submit this file with qsub, or look at its command with --print"
  [[ "$CHARTER_REQUEUE" != requeue ]] ||
    refuse 78 "CHARTER_REQUEUE=requeue: PBS lets no user requeue a job; it may be auto, resubmit or never"
  find_end_time
  [[ -n "$end_time" ]] || refuse 78 "the job's time limit is not known: ask for one (-l walltime=...), or set CHARTER_TIME_LIMIT (seconds)"
}

scheduler_job_id() { echo "$PBS_JOBID"; }

# From the walltime asked for; the job began at most a moment before this script.
scheduler_end_time() {
  [[ -n "${PBS_JOBID:-}" ]] || return 0
  qstat -f "$PBS_JOBID" 2>/dev/null | awk -v start="${job_started:-$(date +%s)}" '
    $1 == "Resource_List.walltime" {
      count = split($3, part, ":")
      for (i = 1; i <= count; ++i) seconds = 60 * seconds + part[i]
      print start + seconds
    }'
}

scheduler_hosts() { [[ -z "${PBS_NODEFILE:-}" ]] || cat "$PBS_NODEFILE"; }

scheduler_failed_hosts() { :; }

scheduler_restarts() { echo 0; }

scheduler_again() {
  if submit_again; then
    exit_status=0
  else
    say "qsub failed; submit the same script again to go on"
  fi
  return 1
}

# PBS keeps a copy of the script. Only names go after -v: their values are taken from this environment, whatever is in them.
submit_again() (
  export CHARTER_CHAIN=$((${CHARTER_CHAIN:-0} + 1)) CHARTER_PREVIOUS_JOB=$PBS_JOBID
  unset CHARTER_JOB_ID
  local names
  names=$(compgen -e CHARTER_ | paste -s -d ,)
  ((${#suspects[@]} == 0)) || say "PBS cannot leave out hosts; ${suspects[*]} may be given to the next job again"
  qsub -W "depend=afterany:$PBS_JOBID" -v "$names" -N "$PBS_JOBNAME" -q "$PBS_QUEUE" "$0"
)
