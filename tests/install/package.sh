#!/bin/sh
# Packs the kernels and tables as a Debian package, which must hold exactly what `cmake --install` installs, and builds
# examples/use_table from the unpacked package.
# usage: package.sh SOURCE_DIR WORK_DIR      exit 77: this machine has no dpkg-deb
set -eu
export CMAKE_GENERATOR=Ninja
source=$1 work=$2
command -v dpkg-deb >/dev/null 2>&1 || {
  echo "skipped: no dpkg-deb on this machine"
  exit 77
}
rm -rf "$work"
cmake -S "$source" -B "$work/kernels" -DHEADTUNE_BUILD_TUNER=OFF >/dev/null
cmake --install "$work/kernels" --prefix "$work/installed" >/dev/null
(cd "$work/kernels" && cpack -G DEB >/dev/null)
package=$(echo "$work"/kernels/headtune-dev_*_all.deb)
dpkg-deb -I "$package" | grep -E '^ (Package|Version|Architecture):'
dpkg-deb -x "$package" "$work/root"

files() { (cd "$1" && find . -type f | LC_ALL=C sort); }
files "$work/installed" >"$work/installed.txt"
files "$work/root/usr" >"$work/packed.txt"
cmp "$work/installed.txt" "$work/packed.txt"
for file in include/headtune/version.h include/headtune/tables/tables.h include/headtune/verify_shared_kv/stage1.h \
  include/headtune/verify_shared_kv/space.json lib/cmake/headtune/headtuneConfig.cmake; do
  test -s "$work/root/usr/$file"
done

# The package, its headers' macros and the CMake package say one version.
version=$(dpkg-deb -f "$package" Version)
grep -q "HEADTUNE_VERSION_STRING \"$version\"" "$work/root/usr/include/headtune/version.h"
grep -q "PACKAGE_VERSION \"$version\"" "$work/root/usr/lib/cmake/headtune/headtuneConfigVersion.cmake"

cmake -S "$source/examples/use_table" -B "$work/use_table" "-DCMAKE_PREFIX_PATH=$work/root/usr" >/dev/null
cmake --build "$work/use_table" >/dev/null
test "$("$work/use_table/use_table" | wc -l)" -eq 6
