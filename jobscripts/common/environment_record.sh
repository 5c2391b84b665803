# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154,SC2034  # the parts share variables (job.sh)
# What a start ran with, kept in the run folder: when two runs differ, the difference is in here.

# record_environment FILE COMMAND ...: writes it. PROGRAM is taken from the global `program`.
record_environment() {
  local file=$1
  shift
  mkdir -p "$(dirname "$file")" || return
  {
    echo "date      $(date -u +%Y-%m-%dT%H:%M:%SZ)"
    echo "host      $(hostname)"
    echo "job       $CHARTER_JOB_ID ($scheduler)"
    echo "command   $(printf '%q ' "$@")"
    echo "program   $("${program[0]}" --version 2>/dev/null | head -n 1)"
    echo "revision  $(revision)"
    section "libraries (ldd)" ldd "${program[0]}"
    type module >/dev/null 2>&1 && section "modules" module list
    command -v nvidia-smi >/dev/null && section "GPUs" nvidia-smi -L
    section "limits (ulimit -a)" ulimit -a
    section "processors (lscpu)" lscpu
    section "environment" environment_without_secrets
  } >"$file" 2>&1
}

# section TITLE COMMAND ...
section() {
  printf '\n== %s\n' "$1"
  shift
  "$@"
}

# Of the source this tree was built from; "+" where files were changed since.
revision() {
  local home hash
  home=$(dirname "$charter_jobscripts")
  hash=$(git -C "$home" rev-parse HEAD 2>/dev/null) || { echo "unknown"; return; }
  git -C "$home" diff --quiet HEAD 2>/dev/null || hash+="+"
  echo "$hash"
}

# Names that smell of a secret lose their value, and so do user names and passwords inside addresses. Read by NUL, since a
# value may have several lines.
environment_without_secrets() {
  local entry name value
  while IFS= read -r -d '' entry; do
    name=${entry%%=*}
    value=${entry#*=}
    [[ "$name" == BASH_FUNC_* ]] && continue
    case ${name^^} in
      *TOKEN* | *SECRET* | *KEY* | *PASSW* | *CREDENTIAL*) value="(not recorded)" ;;
    esac
    printf '%s=%q\n' "$name" "$value"
  done < <(env -0) | sed -E 's#(://)[^/@[:space:]]*@#\1(not recorded)@#g' | LC_ALL=C sort
}
