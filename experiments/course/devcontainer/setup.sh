#!/usr/bin/env bash
# The steps of the Dockerfile, as root, on Debian 12 or 13:
#   setup.sh library SOURCE PROGRAMS     builds isobar from SOURCE and installs it into /opt/isobar
#   setup.sh student ANY PROGRAMS        what a student's ./check needs, and a user `student`
# PROGRAMS is ON for decay_study, train_lm and isobar, which a11 needs, or OFF.
set -euo pipefail
step=$1 source=$2 programs=${3:-OFF}
tools=(g++ cmake ninja-build pkg-config libfmt-dev libtbb-dev)
of_programs=(libhdf5-dev nlohmann-json3-dev libutf8proc-dev zlib1g-dev libxxhash-dev libspdlog-dev libcli11-dev libtomlplusplus-dev)
[ "$programs" = OFF ] || tools+=("${of_programs[@]}")
[ "$step" = library ] || tools+=(python3 gdb git less nano)
export DEBIAN_FRONTEND=noninteractive
apt-get -q update
apt-get -qy --no-install-recommends install "${tools[@]}"
rm -rf /var/lib/apt/lists/*

case $step in
library)
  case $(dpkg --print-architecture) in
  amd64) arch=x86-64-v3 ;;
  arm64) arch=armv8-a ;;
  *)
    echo "setup.sh: wanted amd64 or arm64, got $(dpkg --print-architecture)" >&2
    exit 2
    ;;
  esac
  cmake -G Ninja -S "$source" -B /tmp/isobar-build -D CMAKE_BUILD_TYPE=Release -D ISOBAR_ARCH=$arch -D ISOBAR_PROGRAMS="$programs" \
    -D ISOBAR_WITH_DATA="$programs" -D ISOBAR_TESTS=OFF -D ISOBAR_OPENBLAS=OFF -D ISOBAR_MPI=OFF
  cmake --build /tmp/isobar-build
  cmake --install /tmp/isobar-build --prefix /opt/isobar
  rm -rf /tmp/isobar-build
  ;;
student)
  id student >/dev/null 2>&1 || useradd --create-home --shell /bin/bash student
  mkdir -p /work
  chown student: /work
  ;;
esac
