"""Attacks through the network (F), on system calls (G) and on host-wide resources (K).

The programs are images/attacks/network.c, kernel.c and host.c.
"""

from judge.attacks.attack import NOT_PERMITTED, Attack, Control, Expected, Observed
from judge.attacks.fixtures import counted_locks, counted_names, listeners, locks_a_file
from judge.attacks.weak_box import (
    allowing,
    as_always,
    both,
    on_the_hosts_network,
    unfiltered,
    unmasked,
    with_a_lower_score,
    with_all_addresses,
    with_counters_of_the_host,
    with_long_queues,
    with_writable_proc,
)
from judge.attacks.weak_judge import UnwatchedWire

UNREACHABLE = NOT_PERMITTED | {"ENETUNREACH", "EAFNOSUPPORT", "EADDRNOTAVAIL", "EPROTONOSUPPORT"}
REFUSED = UNREACHABLE | {"ECONNREFUSED", "ENOENT"}
MISSING = "40000"
"""18 MB of names, below the limit of the kernel's memory."""
PACKETS = "it would send packets into the operator's network; F3 shows the same program with a network"
LEAKS = "an agent could get its moves from outside, or reach services that trust this host"
SURFACE = "a bug in this part of the kernel could be a way out of the box"
RIGHTS = "it requires a right that no agent's container may have, even in tests"

NETWORK = (
    Attack(
        id="F1", title="reaches out: TCP, UDP, ICMP, a name server", program="network", words=("out",), danger=LEAKS,
        expected=Expected(denied=("tcp", "udp", "dns", "icmp", "raw"), by=UNREACHABLE), control=PACKETS,
    ),
    Attack(
        id="F2", title="reaches a cloud's metadata and link-local neighbours", program="network",
        words=("neighbours",), danger=LEAKS, control=PACKETS,
        expected=Expected(
            denied=("metadata", "engine-bridge", "broadcast", "v6", "v6-link-local", "v6-metadata"), by=UNREACHABLE
        ),
    ),
    Attack(
        id="F3", title="reaches the host's loopback", program="network", words=("loopback", "{port}"), danger=LEAKS,
        scene=listeners, expected=Expected(denied=("loopback",), by=REFUSED),
        control=Control(
            off="the separate network, and the filter", weaken=on_the_hosts_network,
            expected=Expected(got=("loopback",)),
        ),
    ),
    Attack(
        id="F4", title="reaches the host's sockets without an address", program="network",
        words=("unix", "-", "{abstract}", "{named}"), danger=LEAKS, scene=listeners,
        expected=Expected(denied=("abstract", "unix"), by=REFUSED),
        control=Control(
            off="the separate network, and the filter", weaken=on_the_hosts_network,
            expected=Expected(got=("abstract",), denied=("unix",), by=REFUSED),
        ),
    ),
)  # fmt: skip


def _unfiltered(*got: str, denied: tuple[str, ...] = ()) -> Control:
    return Control(
        off="the filter of system calls", weaken=unfiltered,
        expected=Expected(got=got, denied=denied, by=NOT_PERMITTED),
    )  # fmt: skip


SURFACE_OF_THE_KERNEL = (
    Attack(
        id="G1", title="changes mounts", program="kernel", words=("mounts",), danger=SURFACE, control=RIGHTS,
        expected=Expected(denied=("mount", "remount", "umount", "pivot_root", "fsopen", "chroot")),
    ),
    Attack(
        id="G2", title="creates namespaces in which it is root", program="kernel", words=("namespaces",),
        danger=SURFACE, expected=Expected(denied=("unshare-user", "unshare-net", "clone-user", "setns")),
        control=_unfiltered("unshare-user", "clone-user", denied=("unshare-net", "setns")),
    ),
    Attack(
        id="G3", title="uses bpf, perf events and userfaultfd", program="kernel", words=("programs",), danger=SURFACE,
        expected=Expected(denied=("bpf", "perf_event_open", "userfaultfd")),
        control="the host's settings decide whether all users may use them",
    ),
    Attack(
        id="G4", title="uses keys", program="kernel", words=("keys",), danger=SURFACE,
        expected=Expected(denied=("keyctl", "add_key", "request_key"), by=NOT_PERMITTED),
        control=_unfiltered("keyctl", "add_key", "request_key"),
    ),
    Attack(
        id="G5", title="uses io_uring", program="kernel", words=("rings",), danger=SURFACE,
        expected=Expected(denied=("io_uring_setup",)), control="a host may have disabled it for all users",
        engine_allows=("io_uring_setup",),
    ),
    Attack(
        id="G6", title="opens sockets to kernel subsystems", program="kernel", words=("families",),
        danger=SURFACE, engine_allows=("alg", "vsock", "netlink"),
        expected=Expected(
            denied=("alg", "vsock", "packet", "netlink"), by=NOT_PERMITTED | {"EAFNOSUPPORT", "ESOCKTNOSUPPORT"}
        ),
        control=Control(
            off="the filter of system calls", weaken=unfiltered,
            expected=Expected(
                got=("netlink",), denied=("packet",), by=NOT_PERMITTED | {"EAFNOSUPPORT"}
            ),
        ),
    ),
    Attack(
        id="G6.old", title="opens such sockets with 32-bit calls, under the profile for Wine", program="kernel",
        words=("old-families",), policy={"box": {"seccomp": "wine32"}},
        danger="network namespaces do not restrict AF_VSOCK: it could connect to the hypervisor and the host",
        expected=Expected(denied=("inet", "vsock", "netlink")), engine_allows=("vsock",),
        control=_unfiltered("inet", "netlink"),
    ),
    Attack(
        id="G7", title="reads another process", program="kernel", words=("insides",), danger=SURFACE,
        engine_allows=("ptrace", "process_vm_readv"), expected=Expected(denied=("ptrace", "process_vm_readv")),
        control=Control(
            off="the filter of system calls, and the ban on dumps of a process", weaken=unfiltered, shares_files=True,
            expected=Expected(got=("ptrace", "process_vm_readv")),
        ),
    ),
    Attack(
        id="G8", title="uses memory in unnamed files", program="kernel", words=("nameless",), danger=SURFACE,
        engine_allows=("memfd_secret", "memfd_create"), expected=Expected(denied=("memfd_secret", "memfd_create")),
        control=Control(
            off="the filter of system calls", weaken=unfiltered, expected=Expected(got=("memfd_create",)),
        ),
    ),
    Attack(
        id="G9", title="uses System V and POSIX communication", program="kernel", words=("ipc",), danger=SURFACE,
        engine_allows=("shmget", "semget", "msgget", "mq_open"),
        expected=Expected(denied=("shmget", "semget", "msgget", "mq_open")),
        control=Control(
            off="the filter of system calls", weaken=unfiltered, expected=Expected(got=("shmget", "semget", "msgget")),
        ),
    ),
    Attack(
        id="G10", title="uses obsolete calls for memory layout", program="kernel", words=("layout",), danger=SURFACE,
        engine_allows=("modify_ldt",), expected=Expected(denied=("personality", "modify_ldt")),
        control=Control(
            off="the filter of system calls", weaken=unfiltered, expected=Expected(got=("personality",)),
        ),
    ),
    Attack(
        id="G11", title="opens files by handle", program="kernel", words=("numbers",), danger=SURFACE,
        engine_allows=("name_to_handle_at",), expected=Expected(denied=("name_to_handle_at", "open_by_handle_at")),
        control=_unfiltered("name_to_handle_at", denied=("open_by_handle_at",)),
    ),
    Attack(
        id="G12", title="makes devices", program="kernel", words=("devices",), danger="it could read the host's disk",
        expected=Expected(denied=("block-device", "character-device")), control=RIGHTS,
    ),
    Attack(
        id="G14", title="changes quotas and flags, and types into a terminal", program="kernel", words=("ioctls",),
        danger=SURFACE,
        expected=Expected(
            denied=("fssetxattr", "setflags", "tiocsti", "tioclinux"),
            by=NOT_PERMITTED | {"ENOTTY", "EOPNOTSUPP", "EINVAL"},
        ),
        control="a box has no terminal and no quota",
    ),
    Attack(
        id="G15", title="makes calls over terabytes of addresses", program="kernel", words=("walks",),
        danger="one call would last through the opponent's turn: neither the freezer nor SIGKILL stops it",
        engine_allows=("mincore", "populate", "pageout"),
        expected=Expected(denied=("terabytes", "mincore", "populate", "pageout"), by=NOT_PERMITTED | {"ENOMEM"}),
        control=Control(
            off="the filter of system calls, and the limit of address space",
            weaken=both(unfiltered, with_all_addresses),
            expected=Expected(got=("terabytes", "mincore", "pageout")),
        ),
    ),
    Attack(
        id="G16", title="opens terminals", program="kernel", words=("terminals",),
        danger="the host would run out of terminals, and kernel threads would use the core for the agent",
        expected=Expected(denied=("ptmx", "pts/ptmx"), by=NOT_PERMITTED | {"ENOENT", "ENOTTY", "ENXIO"}),
        control=Control(
            off="the masks of paths", weaken=unmasked, expected=Expected(got=("ptmx", "pts/ptmx"))
        ),
    ),
    Attack(
        id="G17", title="sends descriptors to itself through a socket", program="kernel", words=("descriptors",),
        danger="kernel threads would use the core for the agent, and a late turn could be void",
        engine_allows=("descriptor",), expected=Expected(denied=("descriptor",)), control=_unfiltered("descriptor"),
    ),
    Attack(
        id="G18", title="gets a process descriptor through a socket", program="kernel", words=("peers",),
        danger=SURFACE, engine_allows=("peer-pidfd",), expected=Expected(denied=("peer-pidfd",)),
        control=Control(
            off="the filter of options of sockets", weaken=allowing("getsockopt"), since_linux=(6, 5),
            expected=Expected(got=("peer-pidfd",)),
        ),
    ),
    Attack(
        id="G19", title="drops cached pages of its files", program="kernel", words=("advice",),
        danger="kernel threads on every core would work for it", engine_allows=("cleared-pages",),
        expected=Expected(denied=("cleared-pages",), by=frozenset({"NONE"})),
        control=Control(
            off="ignoring advice about files, and separate files for each game", weaken=allowing("fadvise64"),
            shares_files=True,
            expected=Expected(got=("cleared-pages",)),
        ),
    ),
    Attack(
        id="G20", title="makes the kernel monitor pressure for it and report when its box is frozen", program="kernel",
        words=("pressure",), danger="kernel threads would work in its opponent's time",
        engine_allows=("box-pressure", "box-events"),
        expected=Expected(
            denied=("host-pressure", "box-pressure", "box-events"), by=NOT_PERMITTED | {"ENOENT", "EROFS", "EINVAL"}
        ),
        control=Control(
            off="the masks of paths", weaken=both(unmasked, with_writable_proc), since_linux=(6, 5),
            expected=Expected(got=("host-pressure",)),
        ),
    ),
    Attack(
        id="G21", title="reads the map of its pages", program="kernel", words=("pagemap",),
        danger="one read of a terabyte would last for a second after SIGKILL, and keep a core from others",
        expected=Expected(denied=("pagemap", "pagemap-as-dumpable")),
        control=Control(
            off="the ban on dumps of a process", weaken=as_always, shares_files=True,
            expected=Expected(got=("pagemap", "pagemap-as-dumpable")),
        ),
    ),
)  # fmt: skip


LOCKS = "200000"
COUNTED_LOCKS = 4000
ABSENT = NOT_PERMITTED | {"ENOENT"}
UNCHARGED = "an agent could use up the host's memory without a charge, and others would be killed"


def _made_no_locks(seen: Observed) -> str:
    made = seen.done("locks")
    return "" if made <= 1 else f"{made} locks or more were made"


MANY_CONNECTIONS = 256


def _made_few_connections(seen: Observed) -> str:
    made = seen.done("connections")
    return "" if made <= MANY_CONNECTIONS else f"{made} connections waited"


ON_THE_HOST = (
    Attack(
        id="K1", title="makes hundreds of thousands of record locks", program="host", words=("locks", LOCKS),
        danger=UNCHARGED, scene=counted_locks, expected=Expected(proof=_made_no_locks),
        control=Control(
            off="answering fcntl without a lock", weaken=allowing("fcntl"),
            expected=Expected(did={"locks": COUNTED_LOCKS}, harm="record locks"),
        ),
    ),
    Attack(
        id="K2", title="reads all record locks of the host with one call", program="host",
        words=("walk", LOCKS, "3"),
        danger="every file lock on the host would wait, such as a contest store's", scene=locks_a_file,
        expected=Expected(denied=("list",), by=ABSENT, proof=_made_no_locks),
        engine_allows=("list",),
        control=Control(
            off="answering fcntl without a lock, and the mask of /proc/locks",
            weaken=both(allowing("fcntl"), unmasked),
            expected=Expected(got=("list",), did={"locks": COUNTED_LOCKS, "walked": 50}, harm="waited for"),
        ),
    ),
    Attack(
        id="K3", title="attaches socket filters, which use a small kernel area for compiled code", program="host",
        words=("filters",), danger="no container would start on the host", engine_allows=("filter", "lock-filter"),
        expected=Expected(denied=("filter", "lock-filter")),
        control=Control(
            off="the filter of options of sockets", weaken=allowing("setsockopt"),
            expected=Expected(got=("filter", "lock-filter"), did={"filters": 200}),
        ),
    ),
    Attack(
        id="K4", title="opens tens of thousands of missing files", program="host",
        words=("names", MISSING), danger="the kernel would cache all these names as long as the agent's files exist",
        scene=counted_names, expected=Expected(did={"names": int(MISSING)}),
        control=Control(
            off="separate files for each game", shares_files=True,
            expected=Expected(did={"names": int(MISSING)}, harm="missing names"),
        ),
    ),
    Attack(
        id="K5", title="makes itself less likely to be killed when memory is short", program="host",
        words=("score",), danger="the kernel would kill the opponent because of the agent's memory",
        expected=Expected(denied=("lower-score",), by=ABSENT | {"EROFS"}),
        control=Control(
            off="the fixed OOM score, the read-only /proc, and the ban on dumps of a process",
            weaken=with_a_lower_score, shares_files=True, expected=Expected(got=("lower-score",)),
        ),
    ),
    Attack(
        id="K6", title="makes connections and does not accept them", program="host", words=("connections", "60000"),
        danger=UNCHARGED, expected=Expected(proof=_made_few_connections),
        control=Control(
            off="the length of the queue of a socket, and the judge's limit of the kernel's memory",
            weaken=with_long_queues, wire=UnwatchedWire, expected=Expected(did={"connections": 60000}),
        ),
    ),
    Attack(
        id="K7", title="moves numbers of the whole host", program="host", words=("numbers",),
        danger="agents could send messages to other boxes and to their next games",
        expected=Expected(denied=("sessions", "processes"), by=frozenset({"NONE"})),
        engine_allows=("sessions",),
        control=Control(
            off="answering setsid without a session, and the judge's files in place of counters",
            weaken=both(allowing("setsid"), with_counters_of_the_host),
            expected=Expected(got=("sessions", "processes")),
        ),
    ),
)  # fmt: skip
