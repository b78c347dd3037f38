#!/usr/bin/env bash
# Installs what headtune needs to build and to compile kernels. Safe to run again. See --help.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/private_apt.sh
source "$here/private_apt.sh"

data=${XDG_DATA_HOME:-$HOME/.local/share}/headtune
prefix=$data/hiprtc           # a private hipRTC, run under its own loader
headers=$data/hip-headers     # HIP headers that the ABI test compares against
mirror=
update=no

usage() {
  cat <<TEXT
usage: scripts/setup.sh [--debian-mirror URL] [--update]

Supported: Debian 12, Debian 13, Ubuntu 24.04.
  * installs the build packages with apt (sudo only when not root);
    on Debian 12 Catch2 v3 comes from bookworm-backports
  * without a ROCm >= 6 on the machine, unpacks hipRTC from Debian testing into
    $prefix

Nothing in the system's apt configuration is changed: foreign suites are resolved
with apt's own signature checks in a state directory of headtune's own.

  --debian-mirror URL  Debian archive to use; default: the one this machine's apt uses
  --update             fetch hipRTC again even when it is already there
TEXT
}

say() { printf 'setup: %s\n' "$*"; }
die() { printf 'setup: %s\n' "$*" >&2; exit 4; }

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

parse_arguments() {
  while [ $# -gt 0 ]; do
    case $1 in
      --debian-mirror) mirror=${2:?--debian-mirror needs a URL}; shift 2 ;;
      --update) update=yes; shift ;;
      -h|--help) usage; exit 0 ;;
      *) usage >&2; exit 2 ;;
    esac
  done
}

system_id() { (. /etc/os-release && echo "$ID-$VERSION_ID"); }

missing_packages() {
  local package
  for package in "$@"; do
    dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || echo "$package"
  done
}

apt_install() {
  local missing
  mapfile -t missing < <(missing_packages "$@")
  if [ ${#missing[@]} = 0 ]; then return; fi
  say "installing ${missing[*]}"
  as_root apt-get -q update > /dev/null
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends "${missing[@]}" > /dev/null
}

install_build_packages() {
  apt_install g++ cmake ninja-build git ca-certificates binutils debian-archive-keyring python3 \
    libcli11-dev nlohmann-json3-dev libsqlitecpp-dev libsqlite3-dev libfmt-dev libssl-dev
  case $(system_id) in
    debian-12) install_catch2_from_backports ;;
    *) apt_install catch2 ;;
  esac
  say "build packages: ok"
}

# bookworm itself has Catch2 v2 only.
install_catch2_from_backports() {
  if [ -e /usr/lib/cmake/Catch2/Catch2Config.cmake ] || compgen -G '/usr/*/cmake/Catch2/Catch2Config.cmake' > /dev/null; then
    return
  fi
  say "installing Catch2 v3 from bookworm-backports"
  private_apt_open "$data/apt-backports" "$mirror" bookworm-backports
  private_apt_download "$data/apt-backports/debs" catch2 libcatch2-dev
  as_root dpkg -i "$data"/apt-backports/debs/*.deb > /dev/null
  rm -rf "$data/apt-backports"
}

# Prints the newest installed ROCm's hipRTC of version 6 or later, if there is one.
installed_hiprtc() {
  compgen -G '/opt/rocm*/lib/libhiprtc.so.[6-9]' || ldconfig -p | sed -n 's/.*libhiprtc\.so\.[6-9] .*=> //p'
}

newest_named() { private_apt apt-cache search --names-only "$1" | cut -d' ' -f1 | sort -V | tail -n 1; }

# hipRTC loads comgr at run time, and comgr's device libraries carry LLVM's major version in their name.
hiprtc_packages() {
  local hiprtc comgr llvm
  hiprtc=$(newest_named '^libhiprtc[0-9]+$')
  comgr=$(newest_named '^libamd-comgr[0-9]+$')
  llvm=$(private_apt apt-cache depends "$comgr" | sed -n 's/.*Depends: libllvm\([0-9]*\).*/\1/p' | head -n 1)
  [ -n "$hiprtc" ] && [ -n "$comgr" ] && [ -n "$llvm" ] || die "Debian testing lists no libhiprtc, libamd-comgr or libllvm; see $data/apt-testing"
  echo "$hiprtc" "$comgr" "rocm-device-libs-$llvm"
}

unpack_hiprtc() {
  local packages debs
  if [ -e "$prefix/packages.txt" ] && [ $update = no ]; then
    say "private hipRTC: $(grep '^libhiprtc' "$prefix/packages.txt") in $prefix"
    return
  fi
  private_apt_open "$data/apt-testing" "$mirror" testing
  debs=$data/apt-testing/debs
  packages=$(hiprtc_packages)
  # shellcheck disable=SC2086  # a list of words
  private_apt_download_closure "$debs" $packages
  rm -rf "$prefix" "$prefix.new"
  unpack_debs "$debs" "$prefix.new"
  unpack_hip_headers
  mv "$prefix.new" "$prefix"
  rm -rf "$data/apt-testing"
  say "private hipRTC: unpacked $(wc -l < "$prefix/packages.txt") packages into $prefix"
}

# The ABI test compares the tuner's function table with two generations of AMD's headers.
unpack_hip_headers() {
  private_apt_download "$data/apt-testing/headers" libamdhip64-dev
  unpack_debs "$data/apt-testing/headers" "$headers/testing.new"
  rm -rf "$headers/testing" && mv "$headers/testing.new" "$headers/testing"
  if [ "$(system_id)" = debian-12 ]; then
    private_apt_open "$data/apt-stable" "$mirror" bookworm
    private_apt_download "$data/apt-stable/debs" libamdhip64-dev
    unpack_debs "$data/apt-stable/debs" "$headers/stable.new"
    rm -rf "$headers/stable" "$data/apt-stable" && mv "$headers/stable.new" "$headers/stable"
  fi
}

main() {
  parse_arguments "$@"
  case $(system_id) in
    debian-12|debian-13|ubuntu-24.04) ;;
    *) die "$(system_id) is not supported; install the packages named in scripts/setup.sh by hand" ;;
  esac
  mkdir -p "$data" "$headers"
  install_build_packages
  local rocm
  rocm=$(installed_hiprtc | tail -n 1 || true)
  if [ -n "$rocm" ]; then say "hipRTC of this machine: $rocm"; else unpack_hiprtc; fi
}

main "$@"
