#!/usr/bin/env bash
# Installs the agents that end-to-end tests drive, in the locked versions, and prints where they are as shell assignments:
#     eval "$(tests/hosts/install.sh)" && make test
# Each is installed once for each lock, into the user's cache.
set -euo pipefail
cd "$(dirname "$0")"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/clew-hosts"

# NAME FILE...: calls install_NAME with a new folder, unless there is one for these files already.
installed() {
  local name=$1 place
  shift
  place="$cache/$name-$(cat "$@" | sha256sum | cut -c1-16)"
  if [ ! -d "$place" ]; then
    mkdir -p "$cache"
    "install_$name" "$place" >&2
    touch "$place/.complete"
  elif [ ! -e "$place/.complete" ]; then
    rm -rf "$place"
    installed "$name" "$@"
    return
  fi
  echo "$place"
}

install_openclaw() {
  mkdir "$1"
  cp package.json package-lock.json "$1"
  npm ci --ignore-scripts --no-audit --no-fund --loglevel error --prefix "$1"
}

# A virtual environment cannot be moved, so it is made where it will be used.
install_hermes() {
  python3 -m venv "$1" 2>/dev/null || { rm -rf "$1" && python3 -m venv --without-pip "$1" &&
    python3 -m pip --python "$1/bin/python" install --quiet pip; }
  "$1/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r hermes.lock
}

openclaw=$(installed openclaw package.json package-lock.json)
hermes=$(installed hermes hermes.lock)
echo "export CLEW_OPENCLAW='$openclaw/node_modules'"
echo "export CLEW_HERMES='$hermes/bin/hermes'"
