#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every shell script of the tree through shellcheck; a test runs this. Without shellcheck it says that it was skipped.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
if ! command -v shellcheck >/dev/null; then
  echo "CHARTER_TEST_SKIPPED: shellcheck is not installed"
  exit 0
fi
mapfile -t files < <(grep -rlE '^(#!/usr/bin/env bash|# shellcheck shell=bash)' .ci jobscripts scripts)
shellcheck --external-sources --source-path=. "${files[@]}"
echo "check_shell: ${#files[@]} files"
