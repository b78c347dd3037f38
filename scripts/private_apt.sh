# Sourced by setup.sh: apt with a state directory of its own, so that packages of another Debian suite can be
# resolved and their signatures checked while the system's apt stays as it is.
# shellcheck shell=bash

keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# The Debian archive that this machine's own apt uses (never the security archive, which has no testing suite).
debian_mirror_of_this_machine() {
  apt-get indextargets --format '$(ORIGIN) $(REPO_URI)' 'Created-By: Packages' 2> /dev/null |
    awk '$1 == "Debian" && $2 !~ /security/ {print $2; exit}'
}

# private_apt_open STATE MIRROR SUITE: makes STATE an apt root that knows only SUITE, and reads its index.
private_apt_open() {
  local mirror=${2:-$(debian_mirror_of_this_machine)}
  [ -n "$mirror" ] || die "this machine's apt names no Debian archive; give one with --debian-mirror URL"
  [ -e $keyring ] || die "$keyring is missing; install debian-archive-keyring"
  private_apt_state=$1
  mkdir -p "$1/lists/partial" "$1/cache/archives/partial"
  : > "$1/status"
  echo "deb [signed-by=$keyring arch=amd64] $mirror $3 main" > "$1/sources.list"
  private_apt apt-get -q update > "$1/update.log" 2>&1 || die "apt could not read $3 from $mirror: $(tail -n 1 "$1/update.log")"
}

# private_apt COMMAND ARGUMENTS: COMMAND of apt in the state last opened.
private_apt() {
  local state=$private_apt_state command=$1
  shift
  "$command" -o Dir::State="$state" -o Dir::State::Lists="$state/lists" -o Dir::State::status="$state/status" \
    -o Dir::Cache="$state/cache" -o Dir::Etc::SourceList="$state/sources.list" -o Dir::Etc::SourceParts=/dev/null \
    -o APT::Architecture=amd64 -o APT::Architectures=amd64 -o APT::Sandbox::User=root "$@"
}

# private_apt_download FOLDER PACKAGE...: just these packages.
private_apt_download() {
  local folder=$1
  shift
  mkdir -p "$folder"
  (cd "$folder" && private_apt apt-get -qq download "$@") || die "apt could not download $*"
}

# private_apt_download_closure FOLDER PACKAGE...: these and everything they depend on, for an empty system.
private_apt_download_closure() {
  local folder=$1 log=$private_apt_state/download.log
  shift
  private_apt apt-get -qq -y --download-only --no-install-recommends install "$@" > "$log" 2>&1 ||
    die "apt could not download $*: $(tail -n 1 "$log")"
  mkdir -p "$folder"
  mv "$private_apt_state"/cache/archives/*.deb "$folder"
}

# unpack_debs FOLDER PREFIX: unpacks every package into PREFIX and records name and version in packages.txt.
unpack_debs() {
  local deb
  mkdir -p "$2"
  for deb in "$1"/*.deb; do
    dpkg-deb -x "$deb" "$2"
    dpkg-deb --show --showformat '${Package} ${Version}\n' "$deb" >> "$2/packages.txt"
  done
}
