"""Attacks of agents that may ponder (O12, and variants of B1, I5, V6): images/attacks/cpu.c, stalls.c, memory.c."""

from dataclasses import replace
from statistics import median

from judge.attacks.attack import Attack, Control, Expected, Observed
from judge.attacks.cpu import AFTER_A_VOID
from judge.attacks.resources import ON_MEMORY
from judge.attacks.streams import ON_STREAMS
from judge.attacks.timers import ROBBED, WORKER

PONDER = {"clock": {"ponder": True}}

LOST_SHARE = 0.15
"""An opponent on its own cores loses 0.01 to 0.07 of its time, on shared cores 0.2 to 0.5."""

TURNS = 4


def _lost_share(seen: Observed | None) -> float:
    if seen is None:
        return 0.0
    answers = list(zip(seen.measured("took_us"), seen.measured("lost_us"), strict=True))
    return median(lost / took for took, lost in answers) if answers else 0.0


def _loses_little(seen: Observed) -> str:
    if len(seen.measured("took_us")) < TURNS:
        return "the opponent has not measured its answers"
    lost = _lost_share(seen)
    return "" if lost < LOST_SHARE + _lost_share(seen.peace) else f"the opponent lost {lost:.0%} of its time"


def _loses_much(seen: Observed) -> str:
    lost = _lost_share(seen)
    return "" if lost > LOST_SHARE + _lost_share(seen.peace) else f"the opponent lost only {lost:.0%} of its time"


def _attack(variant: str, title: str, program: str, *words: str, got: tuple[str, ...] = ()) -> Attack:
    return Attack(
        id=f"O12.{variant}",
        title=f"{title}, while it ponders",
        program=program,
        words=words,
        danger=ROBBED,
        policy=PONDER,
        opponent=WORKER,
        expected=Expected(got=got, proof=_loses_little),
        control=Control(
            off="own cores for each seat",
            policy={"clock": {"ponder": False}, "box": {"freeze": "none"}},
            expected=Expected(got=got, proof=_loses_much),
        ),
    )


def _pondering(attacks: tuple[Attack, ...], name: str, title: str, mode: str = "") -> Attack:
    attack = next(each for each in attacks if each.id == name)
    policy = {**attack.policy, **PONDER}
    policy["box"] = {key: value for key, value in policy.get("box", {}).items() if key != "freeze"}
    control = f"as for {name}" if isinstance(attack.control, Control) else attack.control
    words = (mode or attack.words[0], *attack.words[1:])
    return replace(attack, id=f"{name}.ponder", title=title, words=words, policy=policy, control=control)


SPAN = "250ms"

WHILE_PONDERING = (
    _attack("burns", "burns in a process that has left its session", "cpu", "ponder-process", got=("pondering",)),
    _attack("vforks", "has eight processes vfork in a loop", "stalls", "later-vforks", SPAN),
    _attack("threads", "has eight processes make threads", "stalls", "later-threads", SPAN),
    _attack("faults", "has eight processes take memory and give it back", "stalls", "later-faults", SPAN),
    _attack("syncs", "has eight processes write files and sync them", "stalls", "later-syncs", SPAN),
    _attack("reads", "has eight processes read the disk, past the memory", "stalls", "later-reads", SPAN),
    _pondering(ON_MEMORY, "B1", "takes memory while it ponders", "eat-later"),
    _pondering(ON_STREAMS, "I5", "floods stdout while it ponders"),
    _pondering(AFTER_A_VOID, "V6", "dies while it ponders"),
)
