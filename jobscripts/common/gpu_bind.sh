#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Gives a rank its own GPUs, where the launcher does not: gpu_bind.sh PROGRAM [ARGUMENT ...]. Rank r of a node gets the r-th
# group of CHARTER_GPUS_PER_RANK (1) among those of CUDA_VISIBLE_DEVICES, or among all that nvidia-smi lists.
set -euo pipefail

count=${CHARTER_GPUS_PER_RANK:-1}
rank=${OMPI_COMM_WORLD_LOCAL_RANK:-${MPI_LOCALRANKID:-${PALS_LOCAL_RANKID:-${PMI_LOCAL_RANK:-}}}}
if [[ -z "$rank" ]]; then
  echo "gpu_bind: the launcher tells no local rank (OMPI_COMM_WORLD_LOCAL_RANK, MPI_LOCALRANKID, PALS_LOCAL_RANKID, PMI_LOCAL_RANK)" >&2
  exit 78
fi
if [[ -n "${CUDA_VISIBLE_DEVICES:-}" ]]; then
  IFS=, read -r -a gpus <<<"$CUDA_VISIBLE_DEVICES"
else
  mapfile -t gpus < <(nvidia-smi --query-gpu=index --format=csv,noheader 2>/dev/null)
fi
first=$((rank * count))
if ((first + count > ${#gpus[@]})); then
  echo "gpu_bind: $(hostname): local rank $rank needs GPUs $first to $((first + count - 1)), but there are ${#gpus[@]};" \
    "start fewer ranks a node, or ask for more GPUs" >&2
  exit 69
fi
own=("${gpus[@]:first:count}")
CUDA_VISIBLE_DEVICES=$(
  IFS=,
  echo "${own[*]}"
)
export CUDA_VISIBLE_DEVICES
exec "$@"
