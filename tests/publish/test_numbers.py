"""One definition of the digest of a contest's terms, however a number is written."""

from pathlib import Path

from judge.publish.verify.export import verify_export
from tests.contests import PAIR, nothing
from tests.publish.cups import Cup
from tests.verify.second_opinion import second_opinion


def test_contest_with_small_and_large_numbers_is_accepted_by_both(tmp_path: Path) -> None:
    """pydantic writes 0.00001 into contest.json, and the digest is over 1e-05."""
    with Cup(tmp_path / "cup", PAIR, more="[failures]\nlimit = 0.00001\nafter = 99", drawn=nothing) as cup:
        cup.play()
        public = cup.export(tmp_path)
    assert '"limit":0.00001' in (public.directory / "contest.json").read_text()

    assert [] == list(verify_export(public.directory, public.public_key).problems)
    assert [] == second_opinion(public.directory, public.public_key)
