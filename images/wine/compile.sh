#!/bin/sh
# Compiles sockets.c, which says what for, into the folder `added` next to it. The loader puts the width's folder in the
# place of its $LIB.
set -eu
cd "${0%/*}"
for width in 64:x86_64 32:i386; do
    folder=added/usr/lib/${width#*:}-linux-gnu
    mkdir -p "$folder"
    gcc -std=c11 -O2 -fno-builtin -fPIC -shared -nostdlib -Wl,--build-id=none -m"${width%:*}" \
        -o "$folder/judge-sockets.so" sockets.c
done
mkdir -p added/etc
# shellcheck disable=SC2016  # see above
echo '/usr/$LIB/judge-sockets.so' >added/etc/ld.so.preload
