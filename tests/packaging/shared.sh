#!/bin/sh
# shared.sh SOURCE BUILD FOLDER: a shared isobar that was built in BUILD is installed, in a folder whose name CMake
# could read as a pattern. A project finds it and all components that are always there, and a program that names one
# library of it alone starts: that library finds the others. The data that come along are read from where the package
# stands, also after it was moved.
set -eu
source=$1 build=$2 here=$3 prefix="$3/isobar[0.3]"
rm -rf "$here" && mkdir -p "$here"
cmake --install "$build" --prefix "$prefix" >/dev/null
cmake -S "$source/tests/packaging/shared" -B "$here/build" -D "CMAKE_PREFIX_PATH=$prefix" >/dev/null
cmake --build "$here/build" >/dev/null
env -u LD_LIBRARY_PATH "$here/build/consumer"
cd "$here/build"
env -u LD_LIBRARY_PATH ./data_consumer "$prefix"
readelf --dynamic "$prefix"/lib*/libisobar_lm.so | grep -F '[$ORIGIN]'
mv "$prefix" "$here/moved"
LD_LIBRARY_PATH=$(dirname "$here"/moved/lib*/libisobar_lm.so) ./data_consumer "$here/moved"
