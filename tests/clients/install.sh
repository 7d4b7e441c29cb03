# Sourced at the root of the repository: installs what package-lock.json names unless it is there, and says where it is.
clients=tests/clients
node=$clients/node_modules/.bin/node
if ! [ "$clients/node_modules/.package-lock.json" -nt "$clients/package-lock.json" ]; then
    npm ci --prefix "$clients" --no-audit --no-fund
    touch "$clients/node_modules/.package-lock.json"
fi
