#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a program on N ranks of this machine until it is done: run_until_done.sh N PROGRAM [ARGUMENT ...]. Exit code 75 means
# that it stopped with a checkpoint written, and it is started again, at most CHARTER_RESTARTS (100) times. Any other exit
# code is passed on. USR1 and USR2 to this script reach the ranks through mpirun.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
restarts=${CHARTER_RESTARTS:-100}

job=
interrupted=0
# shellcheck disable=SC2317  # called by the traps
forward() {
  interrupted=1
  [[ -n "$job" ]] && kill -s "$1" "$job" 2>/dev/null
}
trap 'forward USR1' USR1
trap 'forward USR2' USR2
trap 'forward TERM' TERM
trap 'forward INT' INT

status=75
for ((start = 0; start <= restarts && status == 75; ++start)); do
  ((start > 0)) && echo "run_until_done: stopped with a checkpoint; start $((start + 1))" >&2
  "$root/scripts/mpirun.sh" "$@" &
  job=$!
  # A trapped signal ends `wait` early, with a status that is not the job's.
  interrupted=1
  while ((interrupted)); do
    interrupted=0
    wait "$job"
    status=$?
  done
done
exit "$status"
