#!/usr/bin/env bash
# Builds the root file system of the runtime for Windows programs: what ../rootfs.sh makes of Wine's packages of both
# widths, and a prefix (Wine's word for a drive C: and a registry), made once and here, so that no game waits for it.
#
#     wine/rootfs.sh build OUT.tar INIT PACKAGE...
set -euo pipefail

WINE_ROOTFS=$(readlink -f "$0")
WINE_IMAGE=${WINE_ROOTFS%/*}
DLLS64=usr/lib/x86_64-linux-gnu/wine/x86_64-windows
DLLS32=usr/lib/i386-linux-gnu/wine/i386-windows
PREFIX=judge/wine
LIBRARY=(gcc -std=c11 -O2 -fno-builtin -fPIC -shared -nostdlib -Wl,--build-id=none)
export WINE_ROOTFS

fail() {
    echo "wine/rootfs.sh: $*" >&2
    exit 1
}

build() {
    [[ $(dpkg --print-architecture) == amd64 ]] || fail "Windows programs are for x86, and this host is not"
    export -f mmdebstrap
    exec "$WINE_IMAGE/../rootfs.sh" build "$@"
}

# What rootfs.sh calls by this name: the program, for both widths and with one more thing to do at the end.
mmdebstrap() {
    command mmdebstrap --architectures=amd64,i386 "$@" --extract-hook="'$WINE_ROOTFS' finish \"\$1\""
}

# finish ROOT: from unpacked packages to a prefix.
finish() {
    [[ -n ${JUDGE_INIT:-} && $1 == /*/* ]] || fail "finish is for build to call: it removes files"
    add_zlib "$1"
    add_sockets "$1"
    remove_unneeded "$1"
    make_prefix "$1"
    share_files "$1"
    forget_chance "$1"
}

# A maintainer script would do this, and none runs here. Wine takes a DLL for one of its own by 32 bytes at the 64th.
add_zlib() {
    mark_as_own "$1/usr/x86_64-w64-mingw32/lib/zlib1.dll" "$1/$DLLS64/zlib1.dll"
    mark_as_own "$1/usr/i686-w64-mingw32/lib/zlib1.dll" "$1/$DLLS32/zlib1.dll"
}

mark_as_own() {
    [[ -e $1 ]] || return 0
    { head -c 64 "$1" && printf 'Wine builtin DLL' && head -c 16 /dev/zero && tail -c +97 "$1"; } >"$2"
}

# sockets.c says what for. The loader puts the width's folder in the place of its $LIB.
add_sockets() {
    "${LIBRARY[@]}" -m64 -o "$1/usr/lib/x86_64-linux-gnu/judge-sockets.so" "$WINE_IMAGE/sockets.c"
    "${LIBRARY[@]}" -m32 -o "$1/usr/lib/i386-linux-gnu/judge-sockets.so" "$WINE_IMAGE/sockets.c"
    # shellcheck disable=SC2016  # see above
    echo '/usr/$LIB/judge-sockets.so' >"$1/etc/ld.so.preload"
}

# Moving pictures, sound and web pages are a third of Wine.
remove_unneeded() {
    local folder
    for folder in "$1/$DLLS64" "$1/$DLLS32"; do
        rm -f "$folder"/{d3d,wined3d,mshtml,x3daudio,xactengine,xapofx,xaudio}*
    done
}

# Wine makes it, as the only processes of a namespace that ends with the first of them, and without a network.
make_prefix() {
    cp "$WINE_IMAGE/settings.reg" "$1/tmp/"
    unshare --mount --pid --net --ipc --fork --kill-child "$WINE_ROOTFS" inside "$1"
    rm -rf "$1"/tmp/* "$1/$PREFIX/wineserver"
    echo disable >"$1/$PREFIX/.update-timestamp"
}

inside() {
    mount -t proc proc "$1/proc"
    chroot "$1" /usr/bin/env -i HOME=/tmp USER=agent LANG=C.UTF-8 PATH=/usr/bin:/usr/lib/wine \
        WINEPREFIX="/$PREFIX" WINEDEBUG=-all WINEDLLOVERRIDES='mscoree,mshtml,winemenubuilder.exe=' \
        sh -ec 'wine64 wineboot --init; wine64 regedit /S /tmp/settings.reg; wineserver64 -w'
}

# Drive C: has a copy of every DLL; they become links to the files that were copied.
share_files() {
    ln -f -t "$1/$PREFIX/drive_c/windows/system32" "$1/$DLLS64"/*
    ln -f -t "$1/$PREFIX/drive_c/windows/syswow64" "$1/$DLLS32"/*
}

# The registry has times, as Unix and as Windows count them, and numbers drawn for this machine; none is of use here.
forget_chance() {
    sed -i -E -e "s/^(\[.*\]) [0-9]+\$/\1 $SOURCE_DATE_EPOCH/" -e 's/^#time=.*/#time=1da1747c66d0000/' \
        -e 's/^("(MachineGuid|VideoID)"=".?)[0-9a-f]{8}-[0-9a-f-]{27}/\100000000-0000-0000-0000-000000000000/' \
        -e 's/^("DriverDateData"=hex:).*/\100,00,00,00,00,00,00,00/' "$1/$PREFIX"/*.reg
}

case ${1:-} in
    build) build "${@:2}" ;;
    finish) finish "$2" ;;
    inside) inside "$2" ;;
    *) fail "usage: wine/rootfs.sh build OUT.tar INIT PACKAGE..." ;;
esac
