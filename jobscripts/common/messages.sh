# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154,SC2034  # the parts share variables (job.sh)
# What a job script says, and how it refuses.

say() { echo "charter job: $*" >&2; }

# refuse CODE TEXT ...
refuse() {
  local code=$1
  shift
  say "$*"
  exit "$code"
}

# check_choice NAME VALUE ...
check_choice() {
  local name=$1 choice
  shift
  for choice in "$@"; do
    [[ "${!name}" == "$choice" ]] && return
  done
  refuse 78 "$name is '${!name}'; it may be: $*"
}

# check_numbers NAME ...
check_numbers() {
  local name
  for name in "$@"; do
    [[ "${!name}" =~ ^[0-9]+$ ]] || refuse 78 "$name is '${!name}'; it must be a whole number"
  done
}
