# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154,SC2034  # the parts share variables (job.sh)
# Signals on their way from the scheduler to the ranks. USR2 (the job's end is near) and TERM, INT, HUP (somebody ends it) both
# reach the ranks as USR2, or as the file STOP: on TERM, Open MPI's mpirun kills them after about three seconds.

stop_asked=0     # the job's time is nearly over
cancelled=0      # somebody ends the job
job_pid=         # of the launcher while it runs
interrupted=0    # a trapped signal ended `wait`

install_traps() {
  trap 'stop_asked=1; ask_ranks_to_stop' USR2
  trap 'cancelled=1; ask_ranks_to_stop' TERM INT HUP
  trap 'interrupted=1; [[ -n "$job_pid" ]] && kill -s USR1 "$job_pid" 2>/dev/null' USR1
}

# Sets CHARTER_STOP_BY where the site leaves that open.
choose_stop() {
  if [[ "${CHARTER_LAUNCHER:-$scheduler_launcher}" != hydra ]]; then
    CHARTER_STOP_BY=${CHARTER_STOP_BY:-signal}
  elif [[ "$CHARTER_STOP_BY" == signal ]]; then
    refuse 78 "CHARTER_STOP_BY=signal: MPICH's mpiexec does not pass USR2 on to the ranks, it ends by it; set file, or nothing"
  else
    CHARTER_STOP_BY="file"
  fi
}

# shellcheck disable=SC2317  # called by the traps
ask_ranks_to_stop() {
  interrupted=1
  [[ -n "$job_pid" ]] || return 0
  case $CHARTER_STOP_BY in
    signal) kill -s USR2 "$job_pid" 2>/dev/null ;;
    file) : >"$run_dir/STOP" ;;
  esac
}

# Waits until the process `job_pid` has ended; sets `status`.
wait_for_launcher() {
  local code
  status=127
  interrupted=1
  # A trapped signal ends `wait` early, with a status that is not the launcher's: wait again. Where the launcher had ended
  # just before the signal, that second wait finds no child (127), and the first status was the right one.
  while ((interrupted)); do
    interrupted=0
    wait "$job_pid"
    code=$?
    ((code == 127)) || status=$code
  done
  job_pid=
  # A program that ended before it saw the file would leave it to the next start.
  [[ "$CHARTER_STOP_BY" == file ]] && ((stop_asked || cancelled)) && rm -f "$run_dir/STOP"
  return 0
}

# start_timer SECONDS: sends USR2 to this script then. Its output is closed, so that nobody waits for it.
start_timer() {
  (
    trap 'kill "$sleeping" 2>/dev/null; exit' TERM
    sleep "$1" &
    sleeping=$!
    wait "$sleeping" && kill -s USR2 $$
  ) </dev/null >/dev/null 2>&1 &
  timer_pid=$!
}

timer_pid=
stop_timer() {
  [[ -n "$timer_pid" ]] && kill -s TERM "$timer_pid" 2>/dev/null
  timer_pid=
}
