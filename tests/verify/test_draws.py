"""Draws follow from the results that the log has before them, also from one that is withdrawn later."""

from pathlib import Path

from judge.verify.export import verify_export
from judge.verify.sample import Sample
from tests.contests import nothing
from tests.publish.cups import Cast, Cup, player

EQUALS: Cast = {name: player(name, 0.5) for name in ("anna", "bert", "carl", "dora", "emil", "fred")}
SWISS = 'name = "swiss"\nrounds = 4\ngames = 1'


def test_a_round_follows_from_results_that_were_withdrawn_after_its_draw(tmp_path: Path) -> None:
    with Cup(tmp_path / "cup", EQUALS, SWISS, drawn=nothing) as cup:
        cup.play(4)
        first = [result for result in cup.contest.results() if result.round == 1]
        winners = {result.winner or result.first for result in first}
        cup.cast = {name: player(name, 0.05 if name in winners else 0.95) for name in EQUALS}
        for result in first:
            cup.store.annul(result.id, "a power cut")
        cup.play()
        again = [result for result in cup.contest.results() if result.round == 1]
        public = cup.export(tmp_path)

    assert [result.winner for result in first] != [result.winner for result in again]
    assert [] == list(verify_export(public.directory, public.public_key).problems)
    assert [] == list(verify_export(public.directory, public.public_key, sample=Sample(3, "1")).problems)
