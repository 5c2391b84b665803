# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154,SC2034  # the parts share variables (job.sh)
# Which hosts of the job are used: all but those that a hang named or the scheduler has given up.

excluded=() # short names, in the order they were found

# With or without its domain: launchers, schedulers and gethostname() differ in that.
short_name() { echo "${1%%.*}"; }

is_excluded() {
  local host
  for host in "${excluded[@]}"; do
    [[ "$host" == "$(short_name "$1")" ]] && return 0
  done
  return 1
}

exclude_host() {
  is_excluded "$1" && return
  excluded+=("$(short_name "$1")")
}

# After a launch: adds the hosts of hang.suspects (lines "RANK HOST", written by the program's watchdog) and those that the
# scheduler has given up. Where too few would be left, all are used again, and that is said.
exclude_suspects() {
  local host before=("${excluded[@]}")
  if [[ -s "$run_dir/hang.suspects" ]]; then
    while read -r _ host; do exclude_host "$host"; done <"$run_dir/hang.suspects"
  fi
  while read -r host; do
    [[ -n "$host" ]] && exclude_host "$host"
  done < <(scheduler_failed_hosts)
  ((${#excluded[@]} > ${#before[@]})) || return 0
  say "suspected or lost: ${excluded[*]}"
  suspects=("${excluded[@]}")
  local left
  left=$(count_hosts)
  if ((left < CHARTER_MIN_NODES)); then
    say "only $left other nodes are left (CHARTER_MIN_NODES=$CHARTER_MIN_NODES): the next start uses all of them again"
    excluded=()
  fi
}

suspects=() # what the next job had better not get

# One line a rank, without the excluded hosts.
rank_hosts() {
  local host
  while read -r host; do
    [[ -n "$host" ]] && ! is_excluded "$host" && echo "$host"
  done < <(scheduler_hosts)
  return 0
}

count_hosts() { rank_hosts | sort -u | wc -l; }

# join SEPARATOR WORD ...
join() {
  local IFS=$1
  shift
  echo "$*"
}
