#!/bin/sh
# Runs the official conformance suite of MCP.
#
#     tests/conformance.sh                      the requirements of both revisions, with the suite's fixtures
#     tests/conformance.sh catalogue URL TOKEN  what a server with its own catalogue can show, as the owner of the token
#
# Needs npm; installs the suite and its Node under tests/clients when they are not there yet.
set -eu
cd "$(dirname "$0")/.."
. tests/clients/install.sh
suite=$clients/node_modules/@modelcontextprotocol/conformance/dist/index.js
results=${CARGO_TARGET_DIR:-target}/conformance
helper=

# Starts a program that prints the URL it serves, sets `url`, and stops the program at the end.
start() {
    "$@" >"$results/url" &
    helper=$!
    trap 'kill $helper 2>/dev/null || true; wait $helper 2>/dev/null || true' EXIT
    tries=0
    until [ -s "$results/url" ]; do
        tries=$((tries + 1))
        if [ $tries -gt 100 ] || ! kill -0 $helper 2>/dev/null; then
            echo "conformance: $1 did not start" >&2
            exit 1
        fi
        sleep 0.1
    done
    url=$(cat "$results/url")
}

# Runs the suite on `url`; its summary is shown when it fails, and the whole of what it says is kept in a file.
run() {
    name=$1
    shift
    if "$node" "$suite" server --url "$url" -o "$results/$name" "$@" >"$results/$name.log" 2>&1; then
        echo "conformance: $name: ok"
    else
        sed -n '/=== SUMMARY/,$p' "$results/$name.log"
        echo "conformance: $name: FAILED"
        failed="$failed $name"
    fi
}

# Counts what a revision requires, of what was run; extensions and pending scenarios run too, but count for nothing.
scored() {
    all=0
    passed=0
    required=$("$node" "$suite" list --server --requirements "$1" | sed -n '/^Client/q; s/^  - //p')
    for scenario in $required; do
        all=$((all + 1))
        if grep -q "^✓ $scenario: " "$results/$1.log"; then passed=$((passed + 1)); fi
    done
    echo "    $passed of $all scored scenarios pass"
}

fixtures() {
    cargo build --quiet --features conformance --bin guichet-conformance
    start "${CARGO_TARGET_DIR:-target}/debug/guichet-conformance"
    for revision in 2026-07-28 2025-11-25; do
        run $revision --requirements $revision --expected-failures $clients/expected-$revision.yml
        scored $revision
    done
}

catalogue() {
    start "$node" $clients/with-token.mjs "$1" "$2"
    for scenario in server-stateless tools-list resources-list prompts-list completion-complete caching \
        sep-2164-resource-not-found http-header-validation dns-rebinding-protection server-sse-multiple-streams \
        input-required-result-unsupported-methods input-required-result-validate-input; do
        run "2026-07-28-$scenario" --scenario $scenario --spec-version 2026-07-28 \
            --expected-failures $clients/expected-catalogue.yml
    done
    for scenario in server-initialize ping tools-list resources-list prompts-list completion-complete \
        dns-rebinding-protection server-sse-multiple-streams server-sse-polling server-session-lifecycle; do
        run "2025-11-25-$scenario" --scenario $scenario --spec-version 2025-11-25
    done
}

rm -rf "$results"
mkdir -p "$results"
failed=
case ${1:-} in
    "") fixtures ;;
    catalogue) catalogue "${2:?the URL of the endpoint}" "${3:?a token}" ;;
    *) sed -n '2,7s/^# \{0,1\}//p' "$0" && exit 2 ;;
esac
if [ -n "$failed" ]; then
    echo "conformance: failed:$failed" >&2
    exit 1
fi
