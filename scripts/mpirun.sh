#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Starts a program on N ranks of this machine: mpirun.sh N PROGRAM [ARGUMENT ...], perhaps followed by others of the same
# launch (: -n N PROGRAM [ARGUMENT ...]). Open MPI refuses root and more ranks than cores, and lets waiting ranks burn a
# core that others need; this adds the flags that cure it, where they are needed and only for Open MPI. MPIEXEC names
# another launcher, CHARTER_MPIEXEC_FLAGS adds flags to it.
set -euo pipefail

if [[ $# -lt 2 || ! "$1" =~ ^[1-9][0-9]*$ ]]; then
  echo "usage: mpirun.sh N PROGRAM [ARGUMENT ...]" >&2
  exit 64
fi
ranks=$1
shift
launcher=${MPIEXEC:-mpirun}

# Open MPI counts cores, not hardware threads, and a container may have fewer than the machine.
cores=$(nproc)
if command -v lscpu >/dev/null; then
  physical=$(lscpu -p=Core,Socket 2>/dev/null | grep -v '^#' | sort -u | wc -l)
  ((physical > 0 && physical < cores)) && cores=$physical
fi

# Those behind a colon count too.
total=$ranks
words=("$@")
for ((i = 0; i + 2 < ${#words[@]}; ++i)); do
  [[ "${words[i]}" == : && "${words[i + 1]}" == -n ]] && total=$((total + words[i + 2]))
done

flags=()
if "$launcher" --version 2>/dev/null | grep -qE 'Open MPI|OpenRTE'; then
  [[ $(id -u) == 0 ]] && flags+=(--allow-run-as-root)
  ((total > cores)) && flags+=(--oversubscribe --bind-to none --mca mpi_yield_when_idle 1)
fi
# shellcheck disable=SC2206  # a list of flags, meant to be split
flags+=(${CHARTER_MPIEXEC_FLAGS:-})

exec "$launcher" -n "$ranks" "${flags[@]}" "$@"
