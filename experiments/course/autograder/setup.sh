#!/usr/bin/env bash
# Prepares a machine for grading, once, as root: Gradescope runs it when it builds its image, and the
# Dockerfile does. For Debian 12 and Ubuntu 22.04 on x86-64. In the end it grades the stubs: what is missing
# is seen here, before a submission.
set -euo pipefail
cd "$(dirname "$0")"
export DEBIAN_FRONTEND=noninteractive
apt-get -q update
apt-get -qy --no-install-recommends install g++-12 cmake ninja-build pkg-config python3 bubblewrap util-linux
rm -rf /var/lib/apt/lists/*
# isobar, and of what it needs the versions that it was built with.
cp -r prefix/. /usr/local
ldconfig

# Nobody but root reads hidden tests and the key; the user that runs submissions reads the library.
chmod -R a+rX .
chmod 700 course
[ ! -e key ] || chmod 600 key
install -m 755 run_autograder /autograder/run_autograder

mapfile -t words <arguments
CXX=g++-12 python3 course/course grade "${words[0]}" course/"${words[0]}" --prefix /usr/local --confine any --out /tmp/stubs.json >/tmp/stubs.txt
if ! grep -q ' is to be written here: ' /tmp/stubs.json; then
  python3 -c 'import json; results = json.load(open("/tmp/stubs.json")); print(results["output"], results["tests"][0]["output"])'
  exit 1
fi
sed -n '1s/^/The stubs of /p' /tmp/stubs.txt
