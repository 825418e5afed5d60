"""File names of the records of a match."""

import re

from judge.contest.matches import record_name
from tests.formats import recorded


def test_file_name_of_a_record_has_number_agents_and_a_further_attempt() -> None:
    record = recorded.gomoku().record
    third = record.model_copy(update={"spec": record.spec.model_copy(update={"number": 2}), "attempt": 2})

    assert f"0001-anna-bert-{record.id[:8]}.json" == record_name(record)
    assert f"0003-anna-bert-{third.id[:8]}-2.json" == record_name(third)
    for name in ("../../etc", "a/b", "Šachy 1", "x" * 300):
        seats = (record.seats[0].model_copy(update={"name": name}), record.seats[1])
        found = record_name(record.model_copy(update={"seats": seats}))
        assert re.fullmatch(r"0001-[a-zA-Z0-9_]+-bert-[0-9a-f]{8}\.json", found)
        assert len(found) < 200
