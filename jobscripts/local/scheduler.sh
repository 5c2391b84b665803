# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154,SC2034  # shares variables with common/
# One machine without a scheduler (the functions that common/job.sh lists): after exit code 75 the script itself goes on.
scheduler_launcher=mpirun # as scripts/mpirun.sh starts it
mpi_version=$("${MPIEXEC:-mpirun}" --version 2>/dev/null)
[[ "$mpi_version" =~ HYDRA|MPICH|"Intel(R) MPI"|MVAPICH ]] && scheduler_launcher=hydra
unset mpi_version
scheduler_signals=0 # with CHARTER_TIME_LIMIT the script's own timer asks
scheduler_cancelled_status=75

scheduler_check() {
  [[ "$CHARTER_REQUEUE" != requeue && "$CHARTER_REQUEUE" != resubmit ]] ||
    refuse 78 "CHARTER_REQUEUE=$CHARTER_REQUEUE: there is no scheduler; it may be auto or never"
  [[ "${CHARTER_LAUNCHER:-$scheduler_launcher}" == "$scheduler_launcher" ]] ||
    refuse 78 "CHARTER_LAUNCHER=$CHARTER_LAUNCHER: here scripts/mpirun.sh starts the ranks, and what it takes is" \
      "'$scheduler_launcher'; MPIEXEC names another mpirun or mpiexec"
}

scheduler_job_id() { echo "local-$(hostname -s)-$$"; }

scheduler_end_time() { :; }

scheduler_hosts() { :; }

scheduler_failed_hosts() { :; }

scheduler_restarts() { echo 0; }

scheduler_again() {
  CHARTER_CHAIN=$((${CHARTER_CHAIN:-0} + 1))
  say "going on with start $((CHARTER_CHAIN + 1))"
}
