#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that are missing: setup.sh [GROUP ...], groups as in packages.txt, "build" by default.
# Where they cannot be installed, prints the exact list and exits 78. Checks nothing on a system that is not Debian, or
# with CHARTER_SKIP_SETUP=1 (a site with its own compilers and libraries: docs/building.md).
set -euo pipefail

if [[ "${CHARTER_SKIP_SETUP:-0}" == 1 ]] || [[ ! -e /etc/debian_version ]] || ! command -v dpkg-query >/dev/null; then
  exit 0
fi

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
groups=("$@")
[[ ${#groups[@]} -gt 0 ]] || groups=(build)

missing=()
while read -r package group _; do
  [[ -z "$package" || "$package" == \#* ]] && continue
  [[ " ${groups[*]} " == *" $group "* ]] || continue
  state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ "$state" == installed ]] || missing+=("$package")
done <"$here/packages.txt"
[[ ${#missing[@]} -gt 0 ]] || exit 0

if [[ $(id -u) == 0 ]]; then
  as_root=(env)
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  as_root=(sudo -n env)
else
  echo "setup: these packages are missing, and neither root nor sudo without a password is at hand. Ask for:" >&2
  echo "  apt-get install ${missing[*]}" >&2
  echo "or set CHARTER_SKIP_SETUP=1 and give CMake your own libraries (docs/building.md)." >&2
  exit 78
fi

echo "setup: installing ${missing[*]}"
if ! "${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get -q update ||
  ! "${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install "${missing[@]}"; then
  echo "setup: apt-get could not install: ${missing[*]}" >&2
  exit 78
fi
