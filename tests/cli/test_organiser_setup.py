"""`judge policies copy` and `judge tokens make-all`."""

import csv
import io
from pathlib import Path

import pytest

from judge.record.policy import load_policy
from tests.cli.conftest import Judge


def test_policy_is_copied_with_its_variants(judge: Judge, tmp_path: Path) -> None:
    copied = judge("policies", "gomocup-standard", "--copy", "ours.toml")

    assert (0, "wrote ours.toml; use it as --policy ours.toml\n") == (copied.code, copied.out)
    assert load_policy(f"{tmp_path / 'ours.toml'}:fast") == load_policy("gomocup-standard:fast")
    for (name, file), why in (
        (("gomocup-standard", "ours.toml"), "ours.toml exists"),
        (("gomocup", "other.toml"), "unknown policy"),
        (("gomocup-standard", "other"), "ends in .toml"),
        (("gomocup-standard", "no/where.toml"), "No such file"),
    ):
        assert why in judge("policies", name, "--copy", file, code=2).err


def test_tokens_of_many_authors_are_one_table(judge: Judge, tmp_path: Path) -> None:
    judge("contest", "init", "cup", "--policy", "gomocup-fastgame")
    (tmp_path / "authors.txt").write_text('Ada L.\n\n Žofie, "Z" \n')

    made = judge("tokens", "make-all", "authors.txt", "cup", "--url", "https://example.org/cup/", code=0)

    rows = list(csv.DictReader(io.StringIO(made.out)))
    assert ["Ada L.", 'Žofie, "Z"'] == [row["author"] for row in rows]
    assert all(row["link"] == f"https://example.org/cup/author/index.html#{row['token']}" for row in rows)
    assert 2 == len({row["token"] for row in rows})
    assert "look alike" not in made.err
    for author in ("ADA L.", "Аda L."):  # noqa: RUF001
        similar = judge("tokens", "make", author, "cup", code=0)
        assert "look alike: if they are one" in similar.err
        assert author in similar.err


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("ada\nbob\nada\n", "authors.txt:3: ada is also on line 1"),
        ("# of the club\nada\nbob, bob@example.org\n", "authors.txt:3: bob, bob@example.org: give the name alone"),
        ("ada\n\x07\n", "authors.txt:2: author"),
        ("\n", "no names"),
        (f"{'a' * 65}\n", "authors.txt:1: author"),
        ("Organiser\n", "authors.txt:1: author 'Organiser': the name is reserved"),
        ("ada\n" * 20000, "authors.txt: more than 65536 characters"),
    ],
)
def test_list_of_authors_with_a_mistake_makes_no_token(judge: Judge, tmp_path: Path, text: str, why: str) -> None:
    judge("contest", "init", "cup", "--policy", "gomocup-fastgame")
    (tmp_path / "authors.txt").write_text(text)

    refused = judge("tokens", "make-all", "authors.txt", "cup")

    assert (2, "") == (refused.code, refused.out)
    assert why in refused.err
