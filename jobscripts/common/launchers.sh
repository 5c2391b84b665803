# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154,SC2034  # the parts share variables (job.sh)
# The command that starts the ranks, with their binding to cores and GPUs.

# build_command: sets `command`, from `program`, `excluded`, `end_time` and the site's settings.
build_command() {
  local launcher=${CHARTER_LAUNCHER:-$scheduler_launcher} host
  local arguments=("${program[@]:1}")
  if [[ -n "$end_time" && " ${arguments[*]} " != *" --stop-before"* ]]; then
    arguments+=(--stop-before "$end_time")
  fi
  may_steal_lock && arguments+=(--steal-lock)
  hosts=()
  while read -r host; do hosts+=("$host"); done < <(rank_hosts)
  # Outside a job (--print) the command is shown as for this host.
  ((${#hosts[@]} > 0)) || [[ "$launcher" == srun || "$launcher" == mpirun || "$scheduler" == local ]] ||
    hosts=("$(hostname -s)")
  gpu_wrapper=()
  export CHARTER_GPUS_PER_RANK # read by the wrapper
  ((CHARTER_GPUS_PER_RANK > 0)) && gpu_wrapper=("$charter_jobscripts/common/gpu_bind.sh")
  case $launcher in
    srun) launch_with_srun ;;
    mpirun) launch_with_mpirun ;;
    hydra) launch_with_hydra ;;
    pals) launch_with_pals ;;
    jsrun) launch_with_jsrun ;;
    flux) launch_with_flux ;;
    *) refuse 78 "CHARTER_LAUNCHER is '$launcher'; it may be: srun mpirun hydra pals jsrun flux" ;;
  esac
  command+=("${program[0]}" "${arguments[@]}")
}

# A lock left by the launch before, which has ended, or by the job before in this chain, which the scheduler says has ended.
# The program itself cannot see that when the lock's holder was on another host.
may_steal_lock() {
  local holder
  holder=$(sed -n 's/.*"job":"\([^"]*\)".*/\1/p' "$run_dir/run.lock" 2>/dev/null)
  [[ -n "$holder" ]] && [[ "$holder" == "${CHARTER_JOB_ID:-}" || "$holder" == "${CHARTER_PREVIOUS_JOB:-}" ]]
}

launch_with_srun() {
  command=(srun)
  [[ -n "$CHARTER_SRUN_MPI" ]] && command+=("--mpi=$CHARTER_SRUN_MPI")
  # One dead rank ends all: the others would wait for it.
  command+=(-K1 --cpu-bind=cores)
  # srun does not take the number of cores over from sbatch.
  local cores=${CHARTER_CORES_PER_RANK:-${SLURM_CPUS_PER_TASK:-}}
  [[ -n "$cores" ]] && command+=("--cpus-per-task=$cores")
  ((CHARTER_GPUS_PER_RANK > 0)) && command+=("--gpus-per-task=$CHARTER_GPUS_PER_RANK" --gpu-bind=closest)
  if ((${#excluded[@]} > 0)); then
    local nodes
    nodes=$(count_hosts)
    command+=("--nodes=$nodes" "--ntasks=${#hosts[@]}" "--exclude=$(join , "${excluded[@]}")")
  fi
  # shellcheck disable=SC2206  # a list of flags, meant to be split
  command+=($CHARTER_SRUN_FLAGS)
}

# Without hosts (one machine), whichever MPI it is: the script knows what root and few cores need.
launch_here() {
  command=("$(dirname "$charter_jobscripts")/scripts/mpirun.sh" "${CHARTER_RANKS:-$(nproc)}" "${gpu_wrapper[@]}")
}

# Open MPI.
launch_with_mpirun() {
  ((${#hosts[@]} == 0)) && launch_here && return
  command=(mpirun -n "${#hosts[@]}" --hostfile "$(write_host_file)")
  command+=(--map-by "slot${CHARTER_CORES_PER_RANK:+:PE=$CHARTER_CORES_PER_RANK}" --bind-to core)
  local name
  # The other hosts get no variables but those named.
  for name in CHARTER_JOB_ID CHARTER_GPUS_PER_RANK PATH LD_LIBRARY_PATH OMP_NUM_THREADS; do
    [[ -n "$(printenv "$name")" ]] && command+=(-x "$name")
  done
  # shellcheck disable=SC2206
  command+=($CHARTER_MPIEXEC_FLAGS "${gpu_wrapper[@]}")
}

# Hydra kills the ranks that are left when one has ended, and its exit code is then a signal's number instead of 128 and that,
# for a hang (79) too. Codes of Charter's are above all signals.
translate_status() {
  [[ "${CHARTER_LAUNCHER:-$scheduler_launcher}" == hydra ]] || return 0
  ((status > 1 && status < 64)) && status=$((128 + status))
  # When a signal to the whole job ends its own processes too, it returns 0 whatever the ranks did. A run that is done
  # ends at once when it is started again.
  ((status == 0 && (stop_asked || cancelled))) && status=75
  return 0
}

launch_with_hydra() {
  ((${#hosts[@]} == 0)) && launch_here && return
  command=(mpiexec -n "${#hosts[@]}" -ppn "$(ranks_per_host)" -f "$(write_host_file unique)" -bind-to core)
  [[ -n "$CHARTER_CORES_PER_RANK" ]] && command[-1]="core:$CHARTER_CORES_PER_RANK"
  # shellcheck disable=SC2206
  command+=($CHARTER_MPIEXEC_FLAGS "${gpu_wrapper[@]}")
}

# Cray's mpiexec.
launch_with_pals() {
  command=(mpiexec -n "${#hosts[@]}" --ppn "$(ranks_per_host)" --hostfile "$(write_host_file unique)")
  command+=(--depth "${CHARTER_CORES_PER_RANK:-1}" --cpu-bind depth)
  # shellcheck disable=SC2206
  command+=($CHARTER_MPIEXEC_FLAGS "${gpu_wrapper[@]}")
}

launch_with_jsrun() {
  ((${#excluded[@]} == 0)) || say "jsrun cannot leave out hosts; ${excluded[*]} may be used again"
  command=(jsrun -n "${CHARTER_RANKS:-${#hosts[@]}}" -a 1 -c "${CHARTER_CORES_PER_RANK:-1}")
  command+=(-g "$CHARTER_GPUS_PER_RANK" "-bpacked:${CHARTER_CORES_PER_RANK:-1}")
  # shellcheck disable=SC2206
  command+=($CHARTER_SRUN_FLAGS)
}

launch_with_flux() {
  command=(flux run "-N$(count_hosts)" "-n${#hosts[@]}")
  [[ -n "$CHARTER_CORES_PER_RANK" ]] && command+=("-c$CHARTER_CORES_PER_RANK")
  command+=(-o cpu-affinity=per-task -o exit-on-error)
  ((CHARTER_GPUS_PER_RANK > 0)) && command+=("-g$CHARTER_GPUS_PER_RANK" -o gpu-affinity=per-task)
  ((${#excluded[@]} > 0)) && command+=("--requires=-host:$(join , "${excluded[@]}")")
  # shellcheck disable=SC2206
  command+=($CHARTER_SRUN_FLAGS)
}

ranks_per_host() { printf '%s\n' "${hosts[@]}" | uniq -c | awk '{ if ($1 > most) most = $1 } END { print most }'; }

# write_host_file [unique]: a line a rank, or a line a host; prints its name. Without a run folder (--print) only that.
write_host_file() {
  local file="$run_dir/hosts.txt" filter=(cat)
  [[ "${1:-}" == unique ]] && filter=(uniq)
  [[ -d "$run_dir" ]] && printf '%s\n' "${hosts[@]}" | "${filter[@]}" >"$file"
  echo "$file"
}
