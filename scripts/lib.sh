# What every script here does before its own work: print steps, install packages, start an Engine, make .venv.
# Sourced by quickstart, test, test-cgroup2, bench and engine; it changes nothing by being sourced.
# shellcheck shell=bash

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
ENGINE_STATE=/run/judge                        # pid file and lock of the Engine that we start
ENGINE_PID=$ENGINE_STATE/dockerd.pid
ENGINE_LOG=${JUDGE_ENGINE_LOG:-/var/log/judge-dockerd.log}
ENGINE_WAIT_SECONDS=${JUDGE_ENGINE_WAIT_SECONDS:-60}
ENGINE_LAUNCHED=                               # its process id, in the script that launches it
APT_LISTS_FRESH_MINUTES=1440                   # older package lists are fetched again before an install
AXE_VERSION=4.14.1                             # checks the accessibility of the published site, in tests
OTHER_RULES=(renju==0.1.0 sgfmill==1.1.1)      # libraries that tests compare the rules of games with
CHESS_JS=chess.js@1.4.0                        # the same, for Node.js

# Tools of the system administrator's directories are needed (dockerd, runc, iptables) also where su left them out.
PATH=$PATH:/usr/sbin:/sbin

# ---- printing ---------------------------------------------------------------------------------------------------

STEP_NAME=
STEP_START=0
STEPS=()                                       # of those that are done, with their seconds

# step NAME: begin a step; the one before it is closed with its seconds.
step() {
    step_done
    STEP_NAME=$1
    STEP_START=$SECONDS
    printf '== %s ...\n' "$1"
}

# step_done: close the step that is open, if any.
step_done() {
    [[ -n $STEP_NAME ]] || return 0
    printf '== %s: done (%d s)\n' "$STEP_NAME" "$((SECONDS - STEP_START))"
    STEPS+=("$(printf '%6d s  %s' "$((SECONDS - STEP_START))" "$STEP_NAME")")
    STEP_NAME=
}

note() { printf '   %s\n' "$*"; }

# die SENTENCE...: one paragraph that says what happened and what to do, then the end.
die() {
    printf '\n!! %s\n' "$1" >&2
    shift
    (($# == 0)) || printf '   %s\n' "$@" >&2
    exit 1
}

# retry NAME COMMAND...: mirrors hiccup; four tries, 2, 6 and 18 seconds apart. Output goes to a file, of which a
# failure shows the last lines. The number of the try is in RETRY_TRY.
retry() {
    local name=$1 wait=2 log status
    shift
    log=$(mktemp)
    for RETRY_TRY in 1 2 3 4; do
        status=0
        "$@" </dev/null >"$log" 2>&1 || status=$?
        if ((status == 0)); then
            rm -f "$log"
            return 0
        fi
        note "$name failed with status $status (try $RETRY_TRY of 4); its last lines:"
        tail -n 12 "$log" | sed 's/^/   | /'
        ((RETRY_TRY < 4)) || break
        note "again in $wait s"
        sleep "$wait"
        wait=$((wait * 3))
    done
    rm -f "$log"
    return "$status"
}

# ---- packages ---------------------------------------------------------------------------------------------------

is_root() { [[ $EUID -eq 0 ]]; }

# can_install: whether these scripts install packages here. They do on Debian and Ubuntu, as root.
can_install() { is_root && command -v apt-get >/dev/null; }

# commands_for NEED: what root types here for an Engine (engine), to let this user use it (join), or for Python (python).
commands_for() {
    python3 "$ROOT/judge/host/distribution.py" "$1" 2>/dev/null ||
        echo "install Python 3.11 or newer by the system's package manager (python3, python on Arch)"
}

is_installed() { [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }

# Lists keep the mirror's times; the folder that they arrive through has the time of the last update.
apt_lists_fresh() {
    compgen -G '/var/lib/apt/lists/*Packages*' >/dev/null &&
        [[ -n $(find /var/lib/apt/lists/partial -maxdepth 0 -mmin "-$APT_LISTS_FRESH_MINUTES") ]]
}

# One try of an installation. Lists that are old, or that a failed try has shown to be wrong, are fetched first; a
# foreign source that fails to update is no reason to stop, the installation itself will tell.
apt_install_once() {
    export DEBIAN_FRONTEND=noninteractive
    if ((RETRY_TRY > 1)) || ! apt_lists_fresh; then
        apt-get update || echo "apt-get update failed; trying with the lists that are here"
    fi
    apt-get install -y --no-install-recommends -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=120 "$@"
}

# Without systemd a package's own script would start a daemon that nobody watches; we start it ourselves later.
with_services_held() {
    local policy=/usr/sbin/policy-rc.d status=0
    if [[ -e $policy ]] || is_systemd; then
        "$@"
        return
    fi
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 0755 "$policy"
    "$@" || status=$?
    rm -f "$policy"
    return "$status"
}

# ensure_packages NAME...: installs what is missing of them.
ensure_packages() {
    local missing=() name
    if command -v dpkg-query >/dev/null; then
        for name in "$@"; do
            is_installed "$name" || missing+=("$name")
        done
    else
        missing=("$@")
    fi
    if ((${#missing[@]} == 0)); then
        note "all packages are here"
        return 0
    fi
    can_install || die "Missing here: ${missing[*]} - these scripts install packages only as root on Debian or Ubuntu." \
        "Install them by your system's own means, and run this again."
    note "installing: ${missing[*]}"
    with_services_held retry "apt-get install" apt_install_once "${missing[@]}" ||
        die "The packages could not be installed: ${missing[*]}." \
            "The lines above say why. Fix it (network, mirror, disk?) and run this again."
}

# ensure_tools: the packages that this project needs on this machine. What is here by other means is not installed
# again: a Python of one's own, and above all another packaging of the Engine, which docker.io would push out.
# Elsewhere, and without root, only Python is needed: judge makes its images by the Engine.
ensure_tools() {
    local packages=()
    if ! can_install; then
        find_python >/dev/null || die "No Python of version 3.11 or newer (with venv and ensurepip) is on PATH." \
            "As root: $(commands_for python)"
        note "packages are installed only as root on Debian or Ubuntu; Python is here"
        return 0
    fi
    command -v mmdebstrap >/dev/null || packages+=(mmdebstrap)
    has_static_compiler || packages+=(gcc libc6-dev)
    command -v g++ >/dev/null || packages+=(g++)
    command -v make >/dev/null || packages+=(make)
    find_python >/dev/null || packages+=(python3 python3-venv)
    command -v dockerd >/dev/null || engine_answers || packages+=(docker.io)
    ensure_packages ${packages[@]+"${packages[@]}"}
}

has_static_compiler() {
    command -v gcc >/dev/null && [[ -e $(gcc -print-file-name=libc.a) ]]
}

# A browser without a window is enough, and any that speaks the DevTools protocol.
has_browser() {
    local name
    for name in chromium-headless-shell chromium google-chrome chrome; do
        command -v "$name" >/dev/null && return 0
    done
    return 1
}

# ensure_axe: axe-core of the pinned version in .build/axe, from the host's npm registry.
ensure_axe() {
    local package=$ROOT/.build/axe/node_modules/axe-core/package.json
    if grep -qs "\"version\": \"$AXE_VERSION\"" "$package"; then
        note "up to date"
        return 0
    fi
    command -v npm >/dev/null || ensure_packages npm
    retry "npm install" npm install --prefix "$ROOT/.build/axe" --no-save --no-package-lock --no-audit --no-fund \
        "axe-core@$AXE_VERSION" || die "axe-core could not be installed." "The lines above say why; run this again."
}

# ensure_other_rules: the libraries that tests compare the rules of games with, in .build/others, from the host's registries.
# Tests of a library that cannot be installed are skipped.
ensure_other_rules() {
    local others=$ROOT/.build/others library missing=
    if [[ $(cat "$others/stamp" 2>/dev/null) == "${OTHER_RULES[*]} $CHESS_JS" ]]; then
        note "up to date"
        return 0
    fi
    rm -rf "$others"
    for library in "${OTHER_RULES[@]}"; do
        retry "pip install" "$ROOT/.venv/bin/python" -m pip install --quiet --no-deps --disable-pip-version-check \
            --target "$others" --upgrade "$library" || missing+=" $library"
    done
    { command -v npm >/dev/null || (ensure_packages npm); } && retry "npm install" npm install --prefix "$others" --no-save \
        --no-package-lock --no-audit --no-fund "$CHESS_JS" || missing+=" $CHESS_JS"
    if [[ -n $missing ]]; then
        note "not installed, so that their tests are skipped:$missing"
        return 0
    fi
    echo "${OTHER_RULES[*]} $CHESS_JS" >"$others/stamp"
}

# ---- Engine -----------------------------------------------------------------------------------------------------

is_systemd() { [[ $(cat /proc/1/comm 2>/dev/null) == systemd ]] && command -v systemctl >/dev/null; }

# engine_socket: the path of the socket where docker-py would look; fails where DOCKER_HOST is no such path.
engine_socket() {
    local host=${DOCKER_HOST:-unix:///var/run/docker.sock}
    [[ $host == unix://* ]] && echo "${host#unix://}"
}

# engine_answers: whether an Engine replies where docker-py would look for it. A unix socket is asked with Python,
# which is needed anyway, so that no docker client of a particular version is.
engine_answers() {
    local socket
    if socket=$(engine_socket); then
        [[ -S $socket ]] && command -v python3 >/dev/null || return 1
        python3 - "$socket" 2>/dev/null <<'PYTHON'
import socket, sys
engine = socket.socket(socket.AF_UNIX)
engine.settimeout(5)
engine.connect(sys.argv[1])
engine.sendall(b"GET /_ping HTTP/1.0\r\nHost: engine\r\n\r\n")
sys.exit(0 if b" 200 " in engine.recv(64) else 1)
PYTHON
    else
        timeout 10 docker version >/dev/null 2>&1
    fi
}

# our_engine_pid: the process id of the Engine that we started, if it lives. The name is checked because a pid file
# that outlived a reboot may name anything.
our_engine_pid() {
    local pid
    pid=$(cat "$ENGINE_PID" 2>/dev/null) || return 1
    [[ -n $pid && $(cat "/proc/$pid/comm" 2>/dev/null) == dockerd ]] || return 1
    echo "$pid"
}

# numbers_of LIST: the numbers of the kernel's list of processors, such as 0-2,8, one a line.
numbers_of() {
    local part
    for part in ${1//,/ }; do
        seq "${part%-*}" "${part#*-}"
    done
}

# processors_allowed: the processors that we may use, one a line.
processors_allowed() { numbers_of "$(awk '/^Cpus_allowed_list:/ { print $2 }' /proc/self/status)"; }

# judges_processors: the processors of the judge's core, with commas: of those that we may use the lowest, with its
# hyperthreads, as judge/sandbox/machine/cores.py places the judge. Empty where there is one processor only. Where all are one
# core, the lowest alone: the others are the agents'.
judges_processors() {
    local mine lowest core siblings=
    mine=$(processors_allowed)
    (($(wc -l <<<"$mine") > 1)) || return 0
    lowest=$(head -n 1 <<<"$mine")
    siblings=$(cat "/sys/devices/system/cpu/cpu$lowest/topology/thread_siblings_list" 2>/dev/null) || siblings=$lowest
    core=$(numbers_of "$siblings" | grep -Fxf - <(echo "$mine")) || core=$lowest
    [[ $core != "$mine" ]] || core=$lowest
    paste -sd, <<<"$core"
}

# launch_dockerd: the daemon in a session of its own, holding none of our descriptors: a caller that waits for the end
# of our output (a pipe, a CI run) must not wait for the daemon. It has no bridge and touches no firewall rule: no box
# of the judge ever has a network. It runs on the judge's core, with all that it starts, so that the next game's boxes
# are made beside a game and not on its cores; a box has cores of its own. JUDGE_ENGINE_PROCESSORS names others (0-3).
launch_dockerd() {
    local pin=() processors=${JUDGE_ENGINE_PROCESSORS:-$(judges_processors)}
    [[ -z $processors ]] || ! command -v taskset >/dev/null || pin=(taskset --cpu-list "$processors")
    (
        cd /
        for fd in "/proc/$BASHPID/fd/"*; do
            fd=${fd##*/}
            ((fd > 2)) && eval "exec $fd>&-"
        done
        exec setsid ${pin[@]+"${pin[@]}"} dockerd --host unix:///var/run/docker.sock --pidfile "$ENGINE_PID" \
            --bridge none --iptables=false --ip6tables=false --ip-forward=false --ip-masq=false \
            </dev/null >>"$ENGINE_LOG" 2>&1
    ) &
    ENGINE_LAUNCHED=$!
    disown
}

# place_engine PROCESSORS: moves the Engine that we started, if one runs, with all that it starts from now on.
place_engine() {
    local pid each
    [[ -n $1 ]] && pid=$(our_engine_pid) && command -v taskset >/dev/null || return 0
    for each in "$pid" $(cat "/proc/$pid/task/"*/children 2>/dev/null); do
        taskset --all-tasks --cpu-list --pid "$1" "$each" >/dev/null || true # one that has ended
    done
}

# A pid file whose process is gone, or is another program by now, would keep a new daemon from starting.
forget_dead_engine() {
    local file
    for file in "$ENGINE_PID" /var/run/docker/containerd/containerd.pid; do
        [[ -e $file ]] || continue
        case $(cat "/proc/$(cat "$file")/comm" 2>/dev/null) in
            dockerd | containerd) ;;
            *) rm -f "$file" ;;
        esac
    done
}

# wait_for_engine: until it answers; fails after the bound, or as soon as the daemon that we launched is dead.
wait_for_engine() {
    local deadline=$((SECONDS + ENGINE_WAIT_SECONDS))
    until engine_answers; do
        ((SECONDS < deadline)) || return 1
        [[ -z $ENGINE_LAUNCHED || -d /proc/$ENGINE_LAUNCHED ]] || return 1
        sleep 0.2
    done
}

start_engine() {
    if is_systemd; then
        systemctl start docker
    else
        forget_dead_engine
        our_engine_pid >/dev/null || launch_dockerd
    fi
}

engine_log_tail() {
    if is_systemd; then
        journalctl -u docker --no-pager -n 15
    else
        grep -v level=info "$ENGINE_LOG" | tail -n 15
    fi
}

# ensure_engine: an Engine that answers is used as it is; else one is started and left running for the next command.
# Two scripts at once start one: the second waits for the lock and finds an answer.
ensure_engine() {
    local socket
    if engine_answers; then
        note "an Engine answers"
        return 0
    fi
    socket=$(engine_socket) || die "No Engine answers at DOCKER_HOST=$DOCKER_HOST." "Start it, or unset DOCKER_HOST."
    if ! is_root; then
        [[ ! -S $socket || -w $socket ]] ||
            die "You may not use the Engine at $socket." "As root: $(commands_for join); then log in again."
        die "No Engine answers at $socket, and only root can start one." "As root: $(commands_for engine); then log in again." \
            "Or, for agents that you trust: judge match --box process"
    fi
    command -v dockerd >/dev/null || die "There is no Docker Engine." "As root: $(commands_for engine)"
    [[ $socket == /var/run/docker.sock || $socket == /run/docker.sock ]] ||
        die "No Engine answers at $socket." "Start it, or unset DOCKER_HOST to let this script start one."
    mkdir -p "$ENGINE_STATE"
    (
        flock -w 120 9 || die "Another script has been starting the Engine for two minutes." "See $ENGINE_LOG"
        engine_answers && exit 0
        note "starting one (log: $(is_systemd && echo 'journalctl -u docker' || echo "$ENGINE_LOG"))"
        if ! { start_engine && wait_for_engine; }; then
            engine_log_tail | sed 's/^/   | /'
            die "The Engine did not start, or did not answer within $ENGINE_WAIT_SECONDS s. Its last words are above."
        fi
    ) 9>"$ENGINE_STATE/engine.lock" || exit 1
    note "the Engine answers; it stays up for the next command (./scripts/engine stop ends it)"
}

# ensure_watch_limit: PID 1 of a box keeps the epoll watches of its user from the agent, which it can up to this limit. A
# limit below what a user has now would end programs of that user, so it is left alone then.
MAX_WATCHES=16384
ENOUGH_WATCHES=8192
WATCH_LIMIT_FILE=${WATCH_LIMIT_FILE:-/proc/sys/fs/epoll/max_user_watches}
WATCHES_IN_USE=${WATCHES_IN_USE:-/proc/[0-9]*/fdinfo/*}
ensure_watch_limit() {
    local value used
    [[ -r $WATCH_LIMIT_FILE ]] || return 0
    value=$(<"$WATCH_LIMIT_FILE")
    ((value > MAX_WATCHES)) || return 0
    if [[ ! -w $WATCH_LIMIT_FILE ]]; then
        note "fs.epoll.max_user_watches is $value; as root: sysctl -w fs.epoll.max_user_watches=$ENOUGH_WATCHES"
        return 0
    fi
    # shellcheck disable=SC2086 # a pattern of files
    used=$(cat $WATCHES_IN_USE 2>/dev/null | grep -ac '^tfd:' || true)
    if ((used > ENOUGH_WATCHES / 2)); then
        note "fs.epoll.max_user_watches stays $value: programs have $used epoll watches now"
        return 0
    fi
    echo "$ENOUGH_WATCHES" >"$WATCH_LIMIT_FILE"
    note "fs.epoll.max_user_watches was $value and is $ENOUGH_WATCHES until the next boot; judge doctor says why"
}

# ensure_map_limit: the kernel charges the nodes of an agent's maps to no box, 52 bytes a map. A limit below what a program has
# now would end it, so it is left alone then.
MAX_MAPS=2048
MAP_LIMIT_FILE=${MAP_LIMIT_FILE:-/proc/sys/vm/max_map_count}
MAPS_IN_USE=${MAPS_IN_USE:-/proc/[0-9]*/maps}
ensure_map_limit() {
    local value used
    [[ -r $MAP_LIMIT_FILE ]] || return 0
    value=$(<"$MAP_LIMIT_FILE")
    ((value > MAX_MAPS)) || return 0
    if [[ ! -w $MAP_LIMIT_FILE ]]; then
        note "vm.max_map_count is $value; as root: sysctl -w vm.max_map_count=$MAX_MAPS"
        return 0
    fi
    # shellcheck disable=SC2086 # a pattern of files
    used=$({ grep -ac '' $MAPS_IN_USE /dev/null 2>/dev/null || true; } |
        awk -F: '$NF > most { most = $NF } END { print most + 0 }')
    if ((used > MAX_MAPS / 2)); then
        note "vm.max_map_count stays $value: a program has $used maps now"
        return 0
    fi
    echo "$MAX_MAPS" >"$MAP_LIMIT_FILE"
    note "vm.max_map_count was $value and is $MAX_MAPS until the next boot; judge doctor says why"
}

# stop_engine_we_started: ends the Engine that ensure_engine started, and only that one.
stop_engine_we_started() {
    local pid deadline=$((SECONDS + ENGINE_WAIT_SECONDS))
    if ! pid=$(our_engine_pid); then
        note "no Engine here was started by these scripts"
        return 0
    fi
    kill "$pid"
    while our_engine_pid >/dev/null; do
        ((SECONDS < deadline)) || die "The Engine (process $pid) did not stop in $ENGINE_WAIT_SECONDS s." "See $ENGINE_LOG"
        sleep 0.2
    done
    rm -f "$ENGINE_PID"
    note "stopped the Engine (process $pid)"
}

# ---- Python -----------------------------------------------------------------------------------------------------

# find_python: the first Python that is new enough and can make a virtual environment.
find_python() {
    local candidate
    for candidate in python3 python3.11 python3.12 python3.13 python3.14; do
        if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$candidate"
            return 0
        fi
    done
    return 1
}

# What .venv stands on (the interpreter, this directory, whose path is in its scripts, and the distribution's name, as pip
# keeps one of a former name) and what it holds.
venv_base() { { "$1" --version && echo "$ROOT" && grep '^name = ' "$ROOT/pyproject.toml"; } | sha256sum | cut -c1-32; }
venv_pins() { cat "$ROOT/pyproject.toml" "$ROOT/constraints.txt" | sha256sum | cut -c1-32; }

# ensure_venv: .venv/ with the pinned packages and this checkout itself, editable. A stamp of everything that it
# depends on makes the second run a matter of moments; an interrupted run leaves no stamp.
ensure_venv() {
    local python
    python=$(find_python) || die "No Python of version 3.11 or newer (with venv and ensurepip) is on PATH." \
        "As root: $(commands_for python)"
    mkdir -p "$ROOT/.build"
    (
        flock 9
        make_venv "$python"
    ) 9>"$ROOT/.build/venv.lock" || exit 1
}

# The builder goes in first and is used from there: no second, hidden environment is downloaded for the build, whose
# pip would know neither our pins nor all of the host's settings. uv installs in seconds what takes pip most of a minute;
# it does not read pip's settings, so where it finds no packages pip installs them. It leaves a lock in TMPDIR.
install_pins() {
    local pins=(-c "$ROOT/constraints.txt") us=(--no-build-isolation -e "${ROOT}[test]")
    local pip=("$ROOT/.venv/bin/python" -m pip install --quiet --no-compile --disable-pip-version-check "${pins[@]}")
    "${pip[@]}" setuptools uv || return
    TMPDIR=$ROOT/.build "$ROOT/.venv/bin/uv" pip install --quiet --no-cache --python "$ROOT/.venv" "${pins[@]}" "${us[@]}" && return
    note "uv could not install the packages; pip tries it with its own settings"
    "${pip[@]}" "${us[@]}"
}

make_venv() {
    local python=$1 stamp=$ROOT/.venv/judge-stamp base pins had
    base=$(venv_base "$python")
    pins=$(venv_pins)
    had=$(cat "$stamp" 2>/dev/null) || had=
    if [[ $had == "$base $pins" ]]; then
        note "up to date"
        return 0
    fi
    note "$("$python" --version) at $python"
    rm -f "$stamp"
    if [[ ${had% *} != "$base" ]]; then
        [[ ! -L $ROOT/.venv ]] || die ".venv is a link, and a new environment would empty the directory that it names." \
            "Remove the link: rm $ROOT/.venv"
        "$python" -m venv --clear "$ROOT/.venv" || die "python -m venv failed; the lines above say why."
    fi
    retry "pip install" install_pins || die "The Python packages could not be installed." \
        "The lines above say why; run this again."
    echo "$base $pins" >"$stamp"
}

# ---- all of it --------------------------------------------------------------------------------------------------

# run_step NAME COMMAND...: one step whose output is shown as it comes; a failure ends the script and names the step.
run_step() {
    local name=$1
    shift
    step "$name"
    "$@" || die "$name failed; the lines above say why." "To repeat only that, in $ROOT: $*"
}

# prepare: from a bare machine to images that are built; what is there already is left alone.
prepare() {
    prepare_environment
    build_images
    step_done
}

# prepare_environment: all that the images are built with.
prepare_environment() {
    cd "$ROOT" || exit 1
    step "packages"
    ensure_tools
    step "Engine"
    ensure_engine
    ensure_watch_limit
    ensure_map_limit
    step "Python environment (.venv)"
    ensure_venv
}

build_images() {
    run_step "images and house agents" env PYTHONUNBUFFERED=1 .venv/bin/judge images build
}
