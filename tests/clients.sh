#!/bin/sh
# Serves the demo from a fresh file and lets real clients at it: the TypeScript SDKs of both eras, and what of the official
# conformance suite a server with its own catalogue can show.
#
# Needs npm; installs the clients and their Node under tests/clients when they are not there yet.
set -eu
cd "$(dirname "$0")/.."
. tests/clients/install.sh
target=${CARGO_TARGET_DIR:-target}

cargo build --quiet --locked --bin guichet
directory=$(mktemp -d)
server=
trap 'kill $server 2>/dev/null || true; wait $server 2>/dev/null || true; rm -rf "$directory"' EXIT
trap 'exit 130' INT TERM
"$target/debug/guichet" demo --json --port 0 --database-url "sqlite:$directory/demo.db" >"$directory/line" 2>"$directory/log" &
server=$!
tries=0
until [ -s "$directory/line" ]; do
    tries=$((tries + 1))
    if [ $tries -gt 300 ] || ! kill -0 $server 2>/dev/null; then
        cat "$directory/log" >&2
        echo "clients: the demo did not start" >&2
        exit 1
    fi
    sleep 0.1
done

# Prints the URL, or the token of somebody with a role.
demo() {
    "$node" -e 'const demo = JSON.parse(require("fs").readFileSync(process.argv[1]));
        const person = demo.people.find(({ role, state }) => role === process.argv[2] && state === "active");
        console.log(person ? person.token : demo.url);' "$directory/line" "$1"
}

url=$(demo url)
owner=$(demo owner)
failed=0
"$node" "$clients/sdks.mjs" "$url" "$owner" "$(demo client_user)" || failed=1
tests/conformance.sh catalogue "$url" "$owner" || failed=1
exit $failed
