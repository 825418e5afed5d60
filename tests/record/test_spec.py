"""A game's id: a digest of its spec, also of one that an older judge wrote, whose policies had fewer fields."""

import hashlib
import json

from judge.record.policy import load_policy
from judge.record.spec import GameSpec, SeatSpec

SEAT = SeatSpec(name="brain", digest="0" * 64, command=("brain",), runtime="native", protocol="gomocup")
SPEC = GameSpec(seats=(SEAT, SEAT), policy=load_policy("gomocup-fastgame"))


def test_an_id_is_the_same_after_a_spec_was_written_and_read() -> None:
    again = GameSpec.model_validate_json(SPEC.model_dump_json())

    assert SPEC.id == again.id
    assert again.is_called(SPEC.id)


def test_a_spec_of_an_older_judge_keeps_its_id_unless_it_was_changed_and_has_the_new_limit() -> None:
    old = SPEC.model_dump(mode="json")
    del old["policy"]["limits"]["open_files"]
    text = json.dumps(old, sort_keys=True, separators=(",", ":"))
    its_id = hashlib.sha256(text.encode()).hexdigest()[:20]
    read, changed = (GameSpec.model_validate_json(json.dumps(old | more)) for more in ({}, {"seed": 99}))

    assert read.is_called(its_id)
    assert read.policy.limits.open_files == 128
    assert not changed.is_called(its_id)


def test_spec_of_a_position_passes_it_to_the_rules_and_one_of_squares_keeps_its_document() -> None:
    position = "4k3/8/8/8/8/8/4P3/4K3 w"
    of_position, of_squares = (GameSpec(**dict(SPEC) | {"opening": each}) for each in (position, ((7, 7), (8, 8))))
    read = GameSpec.model_validate_json(of_position.model_dump_json())

    assert (position, position) == (read.opening, read.game_options()["position"])
    assert 3 == len({SPEC.id, read.id, of_squares.id})
    documents = [spec.model_dump(mode="json")["opening"] for spec in (SPEC, of_squares)]
    assert [[], [[7, 7], [8, 8]]] == documents


def test_scheduled_game_keeps_its_id_for_every_start_position() -> None:
    scheduled = GameSpec(**dict(SPEC) | {"scheduled_as": SPEC.id})
    played = scheduled.model_copy(update={"seed": 7, "opening": ((7, 7),)})

    assert SPEC.id == played.id
    assert not played.is_called(SPEC.model_copy(update={"seed": 7, "opening": ((7, 7),)}).id)
