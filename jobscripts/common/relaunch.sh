# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154,SC2034  # the parts share variables (job.sh)
# The loop inside one job: start, wait, decide, and start again after the death of a rank.

launches=0 # of this script, for the names of the records

# Sets `verdict`: done, again (ask for another job), cancelled (somebody ended it), or stop with `exit_status`.
run_until_decided() {
  local relaunches=0 checkpoint_before
  stop_asked=0
  job_started=$(date +%s)
  checkpoint_before=$(newest_checkpoint)
  rm -f "$run_dir/hang.suspects"
  find_end_time
  [[ "$scheduler_signals" == 0 ]] && start_timer_before_end
  while true; do
    launch_once
    decide
    [[ "$verdict" == relaunch ]] || break
    if ((relaunches >= CHARTER_RELAUNCHES)); then
      give_up_relaunching "$checkpoint_before"
      break
    fi
    relaunches=$((relaunches + 1))
    say "start again ($relaunches of $CHARTER_RELAUNCHES) in $CHARTER_RELAUNCH_PAUSE s"
    pause "$CHARTER_RELAUNCH_PAUSE"
    ((stop_asked || cancelled)) && decide && break
  done
  stop_timer
}

launch_once() {
  status=75
  # Asked between two launches: there is a checkpoint, or nothing was done yet.
  ((stop_asked || cancelled)) && return
  build_command
  launches=$((launches + 1))
  record_environment "$run_dir/environment/$(date -u +%Y%m%dT%H%M%SZ).${CHARTER_JOB_ID//\//_}.$launches.txt" "${command[@]}" ||
    say "the environment could not be recorded in $run_dir/environment"
  say "start: ${command[*]}"
  [[ "$scheduler" == local ]] && set -m
  start_ranks </dev/null &
  job_pid=$!
  set +m
  # A signal that came between the test above and this line found nobody to ask.
  ((stop_asked || cancelled)) && ask_ranks_to_stop
  wait_for_launcher
  translate_status
  say "ended with $status: $(exit_advice "$status")"
}

# Ctrl-C in a terminal goes to a whole process group: the local script (set -m) has the launcher in another one, because
# mpirun leaves the ranks three seconds and MPICH's mpiexec none. A launcher that passes no USR2 on would end by one that a
# scheduler sends to every process of the job.
start_ranks() {
  [[ "$CHARTER_STOP_BY" == file ]] && trap '' USR2
  exec "${command[@]}"
}

decide() {
  verdict=$(exit_action "$status")
  exit_status=$status
  case $verdict in
    again) ((cancelled)) && verdict=cancelled ;;
    relaunch)
      exclude_suspects
      # Killed while it was about to stop: the newest checkpoint is what there is.
      if ((cancelled)); then
        verdict=cancelled
      elif ((stop_asked)) || little_time_is_left; then
        verdict=again
      fi
      ;;
  esac
  return 0
}

# A run that gets on is worth other nodes; one that does not is a person's work.
give_up_relaunching() {
  if [[ "$(newest_checkpoint)" != "$1" ]]; then
    say "$CHARTER_RELAUNCHES starts again are used up in this job, but it wrote checkpoints: going on in another job"
    verdict=again
  else
    say "$CHARTER_RELAUNCHES starts again without a new checkpoint: stopped. Read log.txt and the newest file in" \
      "environment/ of $run_dir, cure the cause, submit the same script again"
    verdict=stop
    exit_status=70
  fi
}

# Checkpoints are named by step with leading zeros; unfinished ones have a longer name.
newest_checkpoint() {
  local names=("$run_dir"/checkpoints/step-??????????)
  echo "${names[-1]}"
}

# Sets `end_time` (seconds since 1970), empty where it is not known.
find_end_time() {
  if [[ -n "${CHARTER_TIME_LIMIT:-}" ]]; then
    end_time=$((${job_started:-$(date +%s)} + CHARTER_TIME_LIMIT))
  else
    end_time=$(scheduler_end_time)
  fi
  [[ "$end_time" =~ ^[0-9]+$ ]] || end_time=
}

little_time_is_left() { [[ -n "$end_time" ]] && (($(date +%s) + CHARTER_STOP_MARGIN >= end_time)); }

start_timer_before_end() {
  [[ -n "$end_time" ]] || return 0
  local seconds=$((end_time - $(date +%s) - CHARTER_STOP_MARGIN))
  ((seconds > 0)) || refuse 78 "the job's time is over before the ranks would be asked to stop: raise the time limit above" \
    "CHARTER_STOP_MARGIN=$CHARTER_STOP_MARGIN s, or lower that"
  start_timer "$seconds"
}

# sleep that a signal ends.
pause() {
  sleep "$1" >/dev/null 2>&1 &
  wait "$!" || kill "$!" 2>/dev/null
}
