#!/usr/bin/env bash
# Builds the root file system of an image from an earlier release of this host's distribution, $JUDGE_RELEASE, by the
# host's own mirror: for languages that the distribution has dropped since.
#
#     release/rootfs.sh build OUT.tar INIT PACKAGE...
set -euo pipefail

RELEASE_ROOTFS=$(readlink -f "$0")
export RELEASE_ROOTFS

build() {
    export -f mmdebstrap
    exec "${RELEASE_ROOTFS%/*}/../rootfs.sh" build "$@"
}

# What rootfs.sh calls by this name: the program, whose last words are a release, a tar file, and sources of the release.
mmdebstrap() {
    local words=("$@") host=${*: -3:1} sources=${*: -1}
    words[$# - 3]=$JUDGE_RELEASE
    words[$# - 1]=${sources// $host / $JUDGE_RELEASE }
    command mmdebstrap --extract-hook="'$RELEASE_ROOTFS' finish \"\$1\"" "${words[@]}"
}

# finish ROOT: rootfs.sh compiles the library of Python 3; Python 2 has its own.
finish() {
    [[ ! -x $1/usr/bin/python2.7 ]] || chroot "$1" /usr/bin/python2.7 -m compileall -q /usr/lib/python2.7 >/dev/null
}

case ${1:-} in
    build) build "${@:2}" ;;
    finish) finish "$2" ;;
    *) echo "usage: JUDGE_RELEASE=NAME release/rootfs.sh build OUT.tar INIT PACKAGE..." >&2 && exit 1 ;;
esac
