"""An agent's private output by move."""

from collections.abc import Sequence

from judge.catalog.files import steps_of
from judge.testing import Act, Say
from judge.web.authors.games import move_logs
from tests.publish.cups import referee
from tests.referee.games import BLACK_ROW, WHITE_ROW, brain, spec


def test_private_output_belongs_to_the_move_during_which_it_was_written() -> None:
    plain, count = brain(*BLACK_ROW), 0

    def hear(line: str) -> Sequence[Act]:
        nonlocal count
        acts = plain(line)
        if line.split()[:1] in (["BEGIN"], ["TURN"]):
            count += 1
            return [Say(f"DEBUG move {count}\r\n".encode()), *acts]
        return acts

    file = referee(spec(), [hear, brain(*WHITE_ROW)])
    replay = steps_of(file)

    logs = move_logs(file, replay, 0)

    own = [number for number, step in enumerate(replay.steps) if step.seat == 0]
    assert [(own[at], f"DEBUG move {at + 1}") for at in range(len(own))] == [
        (log["step"], "".join(map(str, log["shown"])).strip()) for log in logs
    ]
    assert [] == list(move_logs(file, replay, 1))
