#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-format on every C++ file that git knows or could know: format.sh rewrites, format.sh --check only fails.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
mode=(-i)
[[ "${1:-}" == --check ]] && mode=(--dry-run -Werror)
# A file that is deleted but not yet committed is still listed.
files=()
while IFS= read -r -d '' file; do
  [[ -e "$file" ]] && files+=("$file")
done < <(git ls-files -z --cached --others --exclude-standard -- '*.cpp' '*.hpp' '*.cu')
clang-format "${mode[@]}" "${files[@]}"
