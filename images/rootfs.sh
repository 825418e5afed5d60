#!/usr/bin/env bash
# Builds the root file system of one image as a tar file, from this host's own distribution packages; same packages,
# same bytes. Called by `judge images build`:
#
#     rootfs.sh build OUT.tar INIT PACKAGE...    INIT is the compiled PID 1 of the box, or - for an image without one
#
# Packages are unpacked and not configured: no maintainer script runs, so nothing of the package manager's own machinery
# (perl, debconf, apt) comes along, and what a script would have set up stands below, in plain sight.
set -euo pipefail

export SOURCE_DATE_EPOCH=1700000000     # no file is younger than this, whenever it was built
export LC_ALL=C
umask 022                               # whoever builds, an agent's user must be able to read

fail() {
    echo "rootfs.sh: $*" >&2
    exit 1
}

# os_release KEY: one value of this host's distribution.
os_release() { sed -n "s/^$1=//p" /etc/os-release | tr -d '"'; }

# The host's own mirror, its main suite only: the distribution's first release of every package hangs together, while
# an update suite can be out of step with its own index for hours.
host_sources() {
    # shellcheck disable=SC2016  # apt-get fills these in, not the shell
    apt-get indextargets --format '$(CODENAME) $(ORIGIN) $(REPO_URI) $(COMPONENT)' 'Created-By: Packages' |
        awk -v codename="$(os_release VERSION_CODENAME)" -v origin="$(os_release ID)" \
            '$1 == codename && tolower($2) == origin && ($4 == "main" || $4 == "universe") { print "deb", $3, $1, $4 }' |
        sort -u
}

# The host's way to its mirror (proxy, checks); mmdebstrap reads no apt configuration of the host.
host_apt_options() { apt-config dump | grep -E '^Acquire::(http|https|Check|ForceIPv[46]|Proxy)' || [[ $? == 1 ]]; }

build() {
    local out=$1 init=$2 sources options
    shift 2
    command -v mmdebstrap >/dev/null || fail "mmdebstrap is not installed: apt-get install mmdebstrap"
    sources=$(host_sources)
    if [[ -z $sources && $EUID -eq 0 ]]; then   # as on a machine whose lists were cleaned away
        apt-get update
        sources=$(host_sources)
    fi
    [[ -n $sources ]] || fail "apt knows no main suite of this distribution: run apt-get update, then look at its sources"
    options=$(mktemp)
    # shellcheck disable=SC2064  # the name is fixed now
    trap "rm -f '$options'" EXIT
    host_apt_options >"$options"
    JUDGE_INIT=$init try_thrice mmdebstrap --variant=extract --mode=auto --skip=cleanup,output/dev \
        --aptopt="$options" --aptopt='Acquire::Retries "4"' --aptopt='Acquire::Languages "none"' \
        --include="$(IFS=,; echo "$*")" \
        --setup-hook="'$0' merge-usr \"\$1\"" --extract-hook="'$0' finish \"\$1\"" \
        "$(os_release VERSION_CODENAME)" "$out" "$sources"
}

try_thrice() {
    local try
    for try in 1 2 3; do
        "$@" && return 0
        echo "rootfs.sh: try $try of 3 failed" >&2
        sleep $((try * 3))
    done
    fail "gave up: $1"
}

# /bin and its kind are links into /usr, as on the host; packages unpack through them.
merge_usr() {
    local name
    for name in bin sbin lib lib64; do
        mkdir -p "$1/usr/$name"
        ln -s "usr/$name" "$1/$name"
    done
}

# finish ROOT: from unpacked packages to what an agent may see.
finish() {
    [[ -n ${JUDGE_INIT:-} && $1 == /*/* ]] || fail "finish is for build to call: it removes files"
    list_packages "$1"
    remove_unneeded "$1"
    add_skeleton "$1"
    compile_python "$1"
    ldconfig -r "$1"
    rm -rf "$1/var/cache"
    find "$1" -xdev -perm /6000 -exec chmod ug-s {} +
    close_loader "$1"
    [[ $JUDGE_INIT == - ]] || install -m 0511 "$JUDGE_INIT" "$1/judge/init"
}

# The kernel lets no process be dumped whose loader its user cannot read, and so closes /proc/self/pagemap to it
# (docs/decisions/0016). Linkers and Wine read the loader.
close_loader() {
    [[ ! -x $1/usr/bin/ld && ! -d $1/usr/lib/wine ]] || return 0
    find "$1/usr/lib" "$1/usr/sbin" -type f '(' -name 'ld-linux*.so.*' -o -name ldconfig ')' -exec chmod 0711 {} +
}

# The archives that were unpacked are the package list: name and version, one a line.
list_packages() {
    mkdir -p "$1/judge"
    find "$1/var/cache/apt/archives" -name '*.deb' -printf '%f\n' |
        sed -E 's/^([^_]+)_([^_]+)_.*$/\1 \2/; s/%3a/:/' | sort >"$1/judge/packages.txt"
    [[ -s $1/judge/packages.txt ]] || fail "no packages were unpacked"
}

remove_unneeded() {
    local name
    for name in doc man info locale lintian doc-base bash-completion bug linda; do
        rm -rf "${1:?}/usr/share/$name"
    done
    rm -rf "${1:?}"/{var,tmp,etc/apt,etc/cron*,etc/logrotate.d}
}

# The mount points of a box (/io: its pipes; /agent: the agent's files; /home/agent: its working directory), and the two
# accounts that every program may ask for.
add_skeleton() {
    local name
    for name in proc sys dev run var var/cache var/cache/ldconfig root io agent home/agent tmp etc; do
        mkdir -p "$1/$name"
    done
    chmod 0700 "$1/root"
    chmod 1777 "$1/tmp"
    echo 'root:x:0:0:root:/root:/bin/sh
nobody:x:65534:65534:nobody:/nonexistent:/bin/sh' >"$1/etc/passwd"
    echo 'root:x:0:
nogroup:x:65534:' >"$1/etc/group"
    echo 'include /etc/ld.so.conf.d/*.conf' >"$1/etc/ld.so.conf"
    [[ -e $1/bin/sh ]] || ln -s dash "$1/bin/sh"
}

# An agent's file system is read-only, so the library is compiled now or at every start; by file content and never
# checked again, since the sources' times mean nothing here. None of the builder's variables changes what is written, and
# nothing is written (-B) but by compileall: what it imports would be compiled by time.
compile_python() {
    [[ -x $1/usr/bin/python3 ]] || return 0
    env -i PATH="$PATH" LC_ALL=C PYTHONHASHSEED=0 chroot "$1" /usr/bin/python3 -B \
        -m compileall -q --invalidation-mode unchecked-hash /usr/lib/python3* >/dev/null
}

case ${1:-} in
    build) build "${@:2}" ;;
    merge-usr) merge_usr "$2" ;;
    finish) finish "$2" ;;
    *) fail "usage: rootfs.sh build OUT.tar INIT PACKAGE..." ;;
esac
