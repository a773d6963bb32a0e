#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what Rota is built and tested with: Debian packages into the system, Python packages into .venv.
#
#   tools/setup.sh build|develop [peers]
#
# Does nothing, silently and at once, when everything is there. Works as root and as a user with sudo. The package lists
# are tools/packages.txt and tools/requirements*.txt; Python versions are pinned there, Debian's by the release (12).
set -euo pipefail
cd "$(dirname "$0")/.."

group=${1:-develop}
requirements=(tools/requirements.txt)
[ "${2:-}" = peers ] && requirements+=(tools/requirements-peers.txt)

wanted() { awk -v group="$group" '!/^#/ && NF == 2 && ($1 == "build" || group == "develop") { print $2 }' tools/packages.txt; }

missing_packages() {
  comm -23 <(wanted | sort -u) \
    <(dpkg-query -W -f='${db:Status-Abbrev} ${Package}\n' | awk '$1 == "ii" { print $2 }' | sort -u)
}

install_packages() {
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "setup: these Debian packages are missing and need root: $*" >&2; exit 1; }
    as_root=(sudo)
  fi
  echo "setup: installing $*"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

if ! command -v dpkg-query >/dev/null; then
  echo "setup: this system has no dpkg; install the equivalents of these Debian packages by hand:" $(wanted) >&2
else
  packages=$(missing_packages)
  [ -z "$packages" ] || install_packages $packages
fi

# A copy of each list in .venv says what was installed, so that a change of a list installs again.
for list in "${requirements[@]}"; do
  stamp=.venv/$(basename "$list").installed
  cmp -s "$list" "$stamp" && continue
  if ! [ -x .venv/bin/python ]; then
    python=""
    for candidate in python3 /usr/bin/python3; do
      if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        python=$candidate
        break
      fi
    done
    [ -n "$python" ] || { echo "setup: needs Python 3.11 or newer with its venv module" >&2; exit 1; }
    "$python" -m venv .venv
  fi
  echo "setup: Python packages of $list into .venv"
  .venv/bin/python -m pip install --quiet --disable-pip-version-check -r "$list"
  cp "$list" "$stamp"
done
