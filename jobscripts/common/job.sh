# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154,SC2034  # the parts share variables (job.sh)
# The body of every job script: source it, then call charter_job. It starts the program, passes signals on, starts it
# again after the death of a rank, and asks the scheduler for another job when it stopped with a checkpoint.
#
# scheduler.sh of the scheduler's folder defines:
#   scheduler_check          refuses to run outside a job
#   scheduler_job_id         prints the id of the job
#   scheduler_end_time       prints when the job ends, in seconds since 1970, where that is known
#   scheduler_hosts          prints the host of each rank, one a line; nothing where the launcher knows by itself
#   scheduler_failed_hosts   prints those that the scheduler has given up
#   scheduler_restarts       prints how often this same job was requeued
#   scheduler_again          asks for another job and sets `exit_status`; returns 0 when this script goes on by itself
#   scheduler_launcher       the launcher, unless CHARTER_LAUNCHER names one
#   scheduler_signals        1 when it sends USR2 before the job's end, 0 when this script must do that
#   scheduler_cancelled_status   this script's exit code after somebody ended the job
#
# Shared variables: scheduler, run_dir, program (with its options), command (the same behind the launcher), end_time,
# status (of the launcher), verdict, exit_status (of this script); hosts, excluded, suspects; stop_asked, cancelled.

set -uo pipefail
charter_jobscripts=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
for part in messages exit_codes environment_record hosts launchers signals relaunch; do
  # shellcheck source=/dev/null
  source "$charter_jobscripts/common/$part.sh"
done
unset part

# charter_job SCHEDULER RUN_DIR PROGRAM [OPTION ...] -- [ARGUMENT OF THE JOB SCRIPT ...]: runs PROGRAM of Charter with
# --run-dir RUN_DIR until it is done, and exits. The only argument of a job script is --print (or CHARTER_DRY_RUN=1): show
# the command and end.
charter_job() {
  scheduler=$1
  run_dir=$2
  shift 2
  program=()
  while (($# > 0)) && [[ "$1" != -- ]]; do
    program+=("$1")
    shift
  done
  (($# > 0)) && shift
  local print_only=${CHARTER_DRY_RUN:-0}
  if [[ "${1:-}" == --print ]]; then
    print_only=1
    shift
  fi
  (($# == 0)) || refuse 64 "a job script takes only --print, not '$1': its settings stand in the file"
  load_settings
  find_program
  if [[ "$print_only" == 1 ]]; then
    print_command
    exit 0
  fi
  scheduler_check
  CHARTER_JOB_ID=$(scheduler_job_id)
  export CHARTER_JOB_ID
  mkdir -p "$run_dir" || refuse 73 "$run_dir: the run folder cannot be made"
  install_traps
  exit_status=75
  while run_one_job; do :; done
  exit "$exit_status"
}

load_settings() {
  local site=${CHARTER_SITE_ENV:-$charter_jobscripts/site.env}
  # Modules' own code may use unset variables.
  set +u
  # shellcheck source=jobscripts/site.env
  source "$site" || refuse 66 "$site: the site's settings cannot be read (CHARTER_SITE_ENV)"
  set -u
  # shellcheck source=/dev/null
  source "$charter_jobscripts/$scheduler/scheduler.sh"
  check_choice CHARTER_REQUEUE auto requeue resubmit never
  check_choice CHARTER_STOP_BY "" signal file
  choose_stop
  check_numbers CHARTER_STOP_MARGIN CHARTER_RELAUNCHES CHARTER_RELAUNCH_PAUSE CHARTER_MIN_NODES CHARTER_MAX_JOBS \
    CHARTER_GPUS_PER_RANK
  [[ -z "$CHARTER_CORES_PER_RANK" ]] || check_numbers CHARTER_CORES_PER_RANK
  [[ -z "${CHARTER_TIME_LIMIT:-}" ]] || check_numbers CHARTER_TIME_LIMIT
}

find_program() {
  local bin=${CHARTER_BIN:-$(dirname "$charter_jobscripts")/build/bin}
  [[ -x "$bin/${program[0]}" ]] ||
    refuse 66 "$bin/${program[0]} is missing: build Charter (make build), or name the folder in CHARTER_BIN"
  program=("$bin/${program[0]}" "${program[@]:1}" --run-dir "$run_dir")
}

print_command() {
  find_end_time
  build_command
  printf '%q ' "${command[@]}"
  echo
}

# One job, or one round of the local script. Returns 0 when this script goes on with the next one by itself.
run_one_job() {
  run_until_decided
  case $verdict in
    done) exit_status=0 ;;
    again) another_job && return 0 ;;
    cancelled)
      exit_status=$scheduler_cancelled_status
      say "ended from outside after a checkpoint; submit the same script again to go on"
      ;;
    stop) ;;
  esac
  return 1
}

another_job() {
  exit_status=75
  local jobs=$((${CHARTER_CHAIN:-0} + $(scheduler_restarts) + 1))
  if [[ "$CHARTER_REQUEUE" == never ]]; then
    say "stopped with a checkpoint; submit the same script again to go on (CHARTER_REQUEUE=never)"
    return 1
  fi
  if ((jobs >= CHARTER_MAX_JOBS)); then
    say "this was job $jobs of at most $CHARTER_MAX_JOBS (CHARTER_MAX_JOBS); submit the same script again to go on"
    return 1
  fi
  scheduler_again
}
