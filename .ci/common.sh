# What run.sh, test.sh and .ci/run share; they source it from the repository's root.
# shellcheck disable=SC2034  # the lists are theirs to use

# No MPI is among them: who has one gets the plugin for it. The first line builds isobar::isobar, the second
# isobar::data, the third programs and tests. By python3-pytest the course tests itself (`course selftest`).
packages="g++ cmake ninja-build pkg-config libopenblas-dev libopenblas0-pthread libtbb-dev libfmt-dev
  libhdf5-dev nlohmann-json3-dev libutf8proc-dev zlib1g-dev libxxhash-dev
  libspdlog-dev libcli11-dev doctest-dev libbenchmark-dev libtomlplusplus-dev"
ci_packages="clang libclang-rt-14-dev clang-format git python3 chromium chromium-driver
  shellcheck python3-pyflakes pycodestyle node-typescript bubblewrap libopenmpi-dev openmpi-bin hdf5-tools pandoc
  python3-clang python3-jinja2 python3-pytest python3-selenium"
long_packages="valgrind debootstrap python3-clang python3-regex python3-torch libmpich-dev mpich parallel"

say() { printf 'isobar: %s\n' "$*"; }
fail() { say "$*" >&2; exit 2; }

# Where there is no apt: stops unless the tools and the libraries that pkg-config finds are here, with the command that
# INSTALL.md has for this system. A missing library of headers ends the build later.
need_libraries() {
  local name manager command missing=()
  for name in "${CXX:-c++}" cmake ninja pkg-config; do
    command -v "$name" >/dev/null || missing+=("$name")
  done
  for name in openblas tbb fmt hdf5 libutf8proc zlib libxxhash spdlog; do
    pkg-config --exists "$name" 2>/dev/null || missing+=("$name")
  done
  ((${#missing[@]})) || { say "no apt here; taking the libraries as they are"; return 0; }
  for manager in dnf pacman brew; do
    command -v "$manager" >/dev/null || continue
    command=$(sed -n "s/.*\`\([a-z ]*$manager [^\`]*\)\`.*/\1/p" INSTALL.md)
    fail "no apt here, and these are missing: ${missing[*]}. Install them with: $command"
  done
  fail "no apt here, and these are missing: ${missing[*]}. INSTALL.md has a Dockerfile's command for any system"
}

# Installs those of the named Debian packages that are missing; without any, nothing is touched.
install_missing() {
  command -v apt-get >/dev/null || { need_libraries; return 0; }
  local package missing=() as_root=()
  for package in "$@"; do
    # A word for each architecture that has it.
    [[ " $(dpkg-query --show --showformat='${db:Status-Status} ' "$package" 2>/dev/null) " == *" installed "* ]] ||
      missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  say "installing Debian packages: ${missing[*]}"
  if [[ $(id -u) != 0 ]]; then
    command -v sudo >/dev/null || fail "neither root nor sudo; as root: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  as_root+=(env DEBIAN_FRONTEND=noninteractive)
  "${as_root[@]}" apt-get -q update && "${as_root[@]}" apt-get -qy --no-install-recommends install "${missing[@]}" ||
    fail "apt-get could not install: ${missing[*]}"
}

# One compiler per processor, but none without about 1.5 GiB for itself.
job_count() {
  local processors memory
  processors=$(nproc)
  memory=$(awk '/^MemAvailable/ { print int($2 / 1572864) }' /proc/meminfo)
  echo $((memory < 1 ? 1 : memory < processors ? memory : processors))
}

# build PRESET FOLDER [TARGET…]: configures the preset and builds its targets (default: all).
build() {
  local preset=$1 folder=$2
  shift 2
  say "building into $folder/"
  cmake --preset "$preset" --log-level=WARNING
  cmake --build "$folder" --parallel "$(job_count)" ${1:+--target "$@"}
}
