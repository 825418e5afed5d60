"""Attacks on host-wide resources (K): images/attacks/host.c."""

from judge.attacks.attack import NOT_PERMITTED, Attack, Control, Expected, Observed
from judge.attacks.fixtures import counted_locks, counted_names, locks_a_file
from judge.attacks.weak_box import allowing, both, unmasked, with_a_lower_score

LOCKS = "200000"
COUNTED_LOCKS = 4000
ABSENT = NOT_PERMITTED | {"ENOENT"}
UNCHARGED = "an agent could use up the host's memory without a charge, and others would be killed"


def _made_no_locks(seen: Observed) -> str:
    made = seen.done("locks")
    return "" if made <= 1 else f"{made} locks or more were made"


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
        id="K4", title="opens hundreds of thousands of missing files", program="host",
        words=("names", "300000"), danger="the kernel would cache all these names as long as the agent's files exist",
        scene=counted_names, expected=Expected(did={"names": 300000}),
        control=Control(
            off="separate files for each game", shares_files=True,
            expected=Expected(did={"names": 300000}, harm="missing names"),
        ),
    ),
    Attack(
        id="K5", title="makes itself less likely to be killed when memory is short", program="host",
        words=("score",), danger="the kernel would kill the opponent because of the agent's memory",
        expected=Expected(denied=("lower-score",), by=ABSENT | {"EROFS"}),
        control=Control(
            off="the fixed OOM score, and the read-only /proc", weaken=with_a_lower_score,
            in_shell="echo 1000 >/proc/self/oom_score_adj; exec {}", expected=Expected(got=("lower-score",)),
        ),
    ),
)  # fmt: skip
