"""The table of attacks, in the order of the plan."""

import re

from judge.attacks import cpu, files, former, kernel, opponent_time, requests, resources, streams
from judge.attacks.attack import Attack


def _in_order(attack: Attack) -> tuple[str, int, str]:
    letter, number, variant = re.fullmatch(r"([A-Z])(\d+)(.*)", attack.id).groups()  # type: ignore[union-attr]
    return letter, int(number), variant


ATTACKS: tuple[Attack, ...] = tuple(
    sorted(
        (
            *cpu.ON_THE_CLOCK,
            *cpu.AFTER_A_VOID,
            *resources.ON_MEMORY,
            *resources.BY_PROCESSES,
            *files.ON_FILES,
            *files.ON_KEPT_FILES,
            *files.ON_THE_JUDGE,
            *streams.BY_PRINTING,
            *streams.ON_STREAMS,
            *streams.AFTER_A_VOID,
            *resources.BY_STALLS,
            *kernel.NETWORK,
            *kernel.SURFACE_OF_THE_KERNEL,
            *resources.ON_THE_OPPONENT,
            *opponent_time.BY_TIMERS,
            *opponent_time.WHILE_PONDERING,
            *opponent_time.BY_EXITS,
            *requests.ON_THE_JUDGES_TIME,
            *requests.AFTER_A_VOID,
            *kernel.ON_THE_HOST,
            *former.BY_THE_FORMER_GAME,
        ),
        key=_in_order,
    )
)
