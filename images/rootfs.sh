#!/usr/bin/env bash
# The root file system of one image, from packages of Debian or Ubuntu: same packages, same files. There are two ways to
# unpack the packages, and one `finish`.
#
#     rootfs.sh build OUT.tar PACKAGE...    this host's packages by mmdebstrap, with JUDGE_ADDED, finished, as a tar file
#     rootfs.sh unpack ROOT PACKAGE...      in a Dockerfile: packages by the apt of its base image
#     rootfs.sh add-pip                     in a Dockerfile: for an image with wheels
#     rootfs.sh finish ROOT                 from unpacked packages to what an agent may see
#
# a|b is the first of these packages that the distribution has, name:i386 one of another architecture. Variables:
#
#     JUDGE_ADDED     build: files for the image, laid out as in it
#     JUDGE_INSIDE    build: a program in the image that is its last step
#     RELEASE         an earlier release of the distribution
#     MIRROR          unpack: another mirror than that of the base image
#     APT_OPTIONS     unpack: lines of an apt.conf
#     PIP             the command of pip; wheels only
#
# Packages are unpacked and not configured: no maintainer script runs, so nothing of the package manager's own machinery
# (perl, debconf, apt) comes along, and what a script would have set up stands below, in plain sight.
set -euo pipefail

export SOURCE_DATE_EPOCH=1700000000     # the time of all files, whenever they were built
export LC_ALL=C
umask 022                               # whoever builds, an agent's user must be able to read

fail() {
    echo "rootfs.sh: $*" >&2
    exit 1
}

# os_release KEY: one value of this distribution.
os_release() { sed -n "s/^$1=//p" /etc/os-release | tr -d '"'; }

# ---- build: by mmdebstrap ----------------------------------------------------------------------------------------

# The host's own mirror, its main suite only: the distribution's first release of every package hangs together, while
# an update suite can be out of step with its own index for hours.
host_sources() {
    # shellcheck disable=SC2016  # apt-get fills these in, not the shell
    apt-get indextargets --format '$(CODENAME) $(ORIGIN) $(REPO_URI) $(COMPONENT)' 'Created-By: Packages' |
        awk -v codename="$(os_release VERSION_CODENAME)" -v origin="$(os_release ID)" -v release="$1" \
            '$1 == codename && tolower($2) == origin && ($4 == "main" || $4 == "universe") { print "deb", $3, release, $4 }' |
        sort -u
}

# The host's way to its mirror (proxy, checks); mmdebstrap reads no apt configuration of the host.
host_apt_options() { apt-config dump | grep -E '^Acquire::(http|https|Check|ForceIPv[46]|Proxy)' || [[ $? == 1 ]]; }

build() {
    local out=$1 release=${RELEASE:-$(os_release VERSION_CODENAME)} sources options packages machines
    shift
    machines=$(architectures "$@")
    command -v mmdebstrap >/dev/null || fail "mmdebstrap is not installed: apt-get install mmdebstrap"
    sources=$(host_sources "$release")
    if [[ -z $sources && $EUID -eq 0 ]]; then   # as on a machine whose lists were cleaned away
        apt-get update
        sources=$(host_sources "$release")
    fi
    [[ -n $sources ]] || fail "apt knows no main suite of this distribution: run apt-get update, then look at its sources"
    options=$(mktemp)
    # shellcheck disable=SC2064  # the name is fixed now
    trap "rm -f '$options'" EXIT
    host_apt_options >"$options"
    packages=$(first_known "$@")
    # Beside the result: a temporary directory in /dev would be mounted into itself.
    TMPDIR=$(dirname "$out") try_thrice mmdebstrap --variant=extract --mode=auto --skip=cleanup,output/dev \
        --architectures="$machines" \
        --aptopt="$options" --aptopt='Acquire::Retries "4"' --aptopt='Acquire::Languages "none"' \
        --include="${packages//$'\n'/,}" \
        --setup-hook="'$0' merge-usr \"\$1\"" --extract-hook="'$0' add-and-finish \"\$1\"" \
        "$release" "$out" "$sources"
}

add_and_finish() {
    cp -R "$JUDGE_ADDED/." "$1"
    finish "$1"
    [[ -z ${JUDGE_INSIDE:-} ]] ||
        unshare --mount --pid --net --ipc --fork --kill-child "$0" inside "$1" "$JUDGE_INSIDE"
}

# inside ROOT PROGRAM: the program with ROOT as its file system, in namespaces that end with it, without a network.
inside() {
    mount -t proc proc "$1/proc"
    chroot "$1" "$2"
}

# ---- unpack: by apt in a Dockerfile ------------------------------------------------------------------------------

# An apt that knows of no installed package, and of the release's main suite only (as host_sources). What the base image
# has installed, in which versions, does not matter.
set_up_apt() {
    local id mirror=${MIRROR:-} parts=main machines
    id=$(os_release ID)
    case $id in
        debian) ;;
        ubuntu) parts="main universe" ;;
        *) fail "the base image is neither Debian nor Ubuntu" ;;
    esac
    command -v apt-get >/dev/null || fail "the base image has no apt-get"
    [[ -n $mirror ]] || mirror=$(first_mirror)
    [[ -n $mirror ]] || fail "the apt of the base image has no sources: give the build argument MIRROR"
    machines=$(architectures "$@")
    mkdir -p /judge/apt/{lists,cache}
    : >/judge/apt/status
    echo "deb [signed-by=/usr/share/keyrings/$id-archive-keyring.gpg] $mirror" \
        "${RELEASE:-$(os_release VERSION_CODENAME)} $parts" >/judge/apt/sources.list
    cat >/judge/apt/apt.conf <<END
Dir::Etc::SourceList "/judge/apt/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::State::Lists "/judge/apt/lists";
Dir::Cache "/judge/apt/cache";
APT::Install-Recommends "false";
APT::Architectures { "${machines//,/\"; \"}"; };
Acquire::Retries "4";
Acquire::Languages "none";
${APT_OPTIONS:-}
END
    export APT_CONFIG=/judge/apt/apt.conf
    try_thrice apt-get update --quiet -o APT::Update::Error-Mode=any
}

# The mirror of the release, from the sources of the base image, which has downloaded no lists.
first_mirror() {
    apt-get update --print-uris |
        awk -v "dists=/dists/$(os_release VERSION_CODENAME)/" \
            '!found && (at = index($0, dists)) { found = substr($0, 2, at - 2) } END { print found }'
}

unpack() {
    local root=$1 packages archive
    shift
    mkdir -p "$root/var/cache/apt/archives/partial" "$root/tmp"
    merge_usr "$root"
    set_up_apt "$@"
    mapfile -t packages < <(first_known "$@")
    try_thrice apt-get install --quiet --yes --download-only -o Dir::State::Status=/judge/apt/status \
        -o Dir::Cache::Archives="$root/var/cache/apt/archives" "${packages[@]}"
    for archive in "$root"/var/cache/apt/archives/*.deb; do
        dpkg-deb --fsys-tarfile "$archive" | tar --extract --keep-directory-symlink --preserve-permissions --directory "$root"
    done
    rm -r /judge/apt
}

add_pip() {
    set_up_apt
    try_thrice apt-get install --quiet --yes python3-pip ca-certificates
}

# ---- both --------------------------------------------------------------------------------------------------------

# The distribution's architecture, and those of the packages, separated by commas.
architectures() {
    local package all
    all=$(dpkg --print-architecture)
    for package; do
        [[ $package == *:* && ,$all, != *,${package##*:},* ]] || continue
        [[ $all == amd64* ]] || fail "packages for ${package##*:} need an x86 machine"
        all+=,${package##*:}
    done
    echo "$all"
}

# The packages, one a line; of alternatives the first that apt knows, else the last.
first_known() {
    local package names name
    for package; do
        IFS='|' read -ra names <<<"$package"
        for name in "${names[@]}"; do
            [[ ${#names[@]} == 1 ]] || ! apt-cache --quiet show "$name" >/dev/null 2>&1 || break
        done
        echo "$name"
    done
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

# ---- finish ------------------------------------------------------------------------------------------------------

finish() {
    [[ -d $1/var/cache/apt/archives && $(realpath "$1") != / ]] || fail "finish is for an unpacked root: it removes files"
    list_packages "$1"
    remove_unneeded "$1"
    add_skeleton "$1"
    install_wheels "$1"
    compile_python "$1"
    ldconfig -r "$1"
    rm -rf "$1/var/cache"
    find "$1" -xdev -perm /6000 -exec chmod ug-s {} +
    close_loader "$1"
    [[ ! -e $1/judge/init ]] || chmod 0511 "$1/judge/init"
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
    rm -rf "${1:?}"/{var,tmp,etc/apt,etc/cron*,etc/logrotate.d,etc/fstab,etc/hostname,etc/resolv.conf}
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

# Wheels for the image's Python and C library, without what names places of this host. No code in them is run. If all are
# at hand, no index is asked.
install_wheels() {
    local wheels=$1/judge/wheels target=$1/usr/lib/python3/dist-packages python libc minor platforms=() index=()
    [[ -d $wheels ]] || return 0
    python=$(readlink "$1/usr/bin/python3") || fail 'wheels are for Python 3: set extends = "python"'
    libc=$(sed -n 's/^libc6 2\.\([0-9]*\).*/\1/p' "$1/judge/packages.txt")
    for ((minor = libc; minor > 16; minor--)); do
        platforms+=(--platform "manylinux_2_${minor}_$(uname -m)")
    done
    [[ $(grep -c == "$wheels/wheels.txt") != "$(find "$wheels" -name '*.whl' | wc -l)" ]] || index=(--no-index)
    ${PIP:-python3 -m pip} install --target "$target" --requirement "$wheels/wheels.txt" --find-links "$wheels" \
        --require-hashes --only-binary :all: --no-deps --no-compile --no-cache-dir "${index[@]}" \
        --implementation cp --python-version "${python#python}" "${platforms[@]}" --platform "manylinux2014_$(uname -m)" \
        --disable-pip-version-check --root-user-action ignore --quiet --retries 1
    find "$target" -path '*.dist-info/*' '(' -name direct_url.json -o -name RECORD -o -name INSTALLER -o -name REQUESTED ')' \
        -delete
    rm -r "$wheels"
}

# An agent's file system is read-only, so the library is compiled now or at every start; by file content and never
# checked again, since the sources' times mean nothing here. None of the builder's variables changes what is written, and
# nothing is written (-B) but by compileall: what it imports would be compiled by time.
compile_python() {
    if [[ -x $1/usr/bin/python2.7 ]]; then   # it compares times
        find "$1"/{usr/lib,etc}/python2.7 -type f -name '*.py' -exec touch --date="@$SOURCE_DATE_EPOCH" {} +
        chroot "$1" /usr/bin/python2.7 -m compileall -q /usr/lib/python2.7 >/dev/null
    fi
    [[ -x $1/usr/bin/python3 ]] || return 0
    local folders=("$1"/usr/lib/python3*)
    env -i PATH="$PATH" LC_ALL=C PYTHONHASHSEED=0 chroot "$1" /usr/bin/python3 -B \
        -m compileall -q --invalidation-mode unchecked-hash "${folders[@]#"$1"}" >/dev/null
}

case ${1:-} in
    build) build "${@:2}" ;;
    merge-usr) merge_usr "$2" ;;
    add-and-finish) add_and_finish "$2" ;;
    inside) inside "$2" "$3" ;;
    unpack) unpack "${@:2}" ;;
    add-pip) add_pip ;;
    finish) finish "$2" ;;
    *) fail "usage: rootfs.sh build OUT.tar PACKAGE... | unpack ROOT PACKAGE... | add-pip | finish ROOT" ;;
esac
