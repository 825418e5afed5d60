"""An export that copies unchanged pages of a former export has the bytes of a complete export."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from judge.base.errors import InputError
from judge.contest.folder_names import PAGES_FILE
from judge.export.export import PageOptions, publish
from judge.transparency.keys import make_key
from judge.verify.export import verify_export
from tests.contests import ROUND_ROBIN
from tests.publish.cups import Cup
from tests.publish.public import Public, sign_again

FEW = 6
"""Games before the former export."""

MARK = b"<!-- copied -->"


@pytest.fixture
def growing(tmp_path: Path) -> Iterator[Cup]:
    recipe = replace(ROUND_ROBIN, name="growing", happens=lambda cup: cup.play(FEW, void=[3]))
    with recipe.contest(tmp_path / "cup") as cup:
        yield cup


def export(cup: Cup, folder: Path, former: Public | None = None) -> Public:
    folder.mkdir()
    key = make_key(folder / "organiser.key") if former is None else former.key
    options = PageOptions(former=None if former is None else former.directory)
    return cup.export(folder, key, pages=options)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def mark(cup: Cup, public: Public, stem: str) -> None:
    """Change a page so that its copies are recognised, as if judge had written it."""
    page = public.directory / f"games/{stem}.html"
    before = hashlib.sha256(page.read_bytes()).hexdigest()
    page.write_bytes(page.read_bytes() + MARK)
    after = hashlib.sha256(page.read_bytes()).hexdigest()
    known = cup.folder / PAGES_FILE
    known.write_text(known.read_text().replace(before, after))
    sign_again(public)


def test_incremental_export_of_a_growing_contest_has_the_bytes_of_a_complete_one(growing: Cup, tmp_path: Path) -> None:
    old = export(growing, tmp_path / "old")
    growing.play()
    new = export(growing, tmp_path / "new", former=old)

    (tmp_path / "whole").mkdir()
    whole = Public(tmp_path / "whole", old.key)
    publish(growing.contest, whole.directory, whole.private, old.key)
    assert contents(whole.directory) == contents(new.directory)
    assert contents(whole.private) == contents(new.private)
    assert [] == verify_export(new.directory, old.public_key).problems


def test_pages_of_finished_games_are_copied_and_those_with_new_neighbours_are_not(growing: Cup, tmp_path: Path) -> None:
    old = export(growing, tmp_path / "old")
    played = [f"{result.number:05d}" for result in growing.store.results(growing.contest.name)]
    for stem in played:
        mark(growing, old, stem)
    growing.play()
    new = export(growing, tmp_path / "new", former=old)

    marked = {path.stem for path in (new.directory / "games").glob("*.html") if MARK in path.read_bytes()}
    assert set(played[:-1]) == marked


def test_changed_page_of_the_former_export_is_rendered_again(growing: Cup, tmp_path: Path) -> None:
    old = export(growing, tmp_path / "old")
    for page in (old.directory / "games").glob("*.html"):
        page.write_bytes(page.read_bytes() + MARK)
    new = export(growing, tmp_path / "new", former=old)

    assert not any(MARK in data for data in contents(new.directory).values())


def test_page_that_the_signed_manifest_does_not_list_is_rendered_again(growing: Cup, tmp_path: Path) -> None:
    old = export(growing, tmp_path / "old")
    for page in (old.directory / "games").glob("*.html"):
        page.write_bytes(page.read_bytes() + MARK)
    known = growing.folder / PAGES_FILE
    lines = [json.loads(line) for line in known.read_text().splitlines()]
    for line in lines:
        files = line["pages"]["files"]
        files |= {name: hashlib.sha256((old.directory / name).read_bytes()).hexdigest() for name in files}
    known.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    new = export(growing, tmp_path / "new", former=old)

    assert not any(MARK in data for data in contents(new.directory).values())


@pytest.mark.parametrize(
    "damage", [b"\0" * 4096 + b"\n", b'{"format":"judge-export\n', b"x" * (2 << 20) + b"\n", b"\xff\n"]
)
def test_damaged_line_of_former_pages_is_skipped(damage: bytes, growing: Cup, tmp_path: Path) -> None:
    old = export(growing, tmp_path / "old")
    mark(growing, old, "00001")
    known = growing.folder / PAGES_FILE
    first, *others = known.read_bytes().splitlines(keepends=True)
    known.write_bytes(first + damage + b"".join(others[1:]) + others[0][:40])
    new = export(growing, tmp_path / "new", former=old)

    assert MARK in (new.directory / "games/00001.html").read_bytes()
    assert [] == verify_export(new.directory, old.public_key).problems


def test_another_language_copies_nothing(growing: Cup, tmp_path: Path) -> None:
    old = export(growing, tmp_path / "old")
    mark(growing, old, "00001")
    folder = tmp_path / "new"
    options = PageOptions(languages=("cs",), former=old.directory)
    publish(growing.contest, folder / "public", folder / "private", old.key, options)

    assert not any(MARK in data for data in contents(folder / "public").values())


def test_former_export_of_another_key_is_refused(growing: Cup, tmp_path: Path) -> None:
    old = export(growing, tmp_path / "old")
    with pytest.raises(InputError, match="not signed by your key"):
        publish(
            growing.contest,
            tmp_path / "new",
            tmp_path / "new-private",
            make_key(tmp_path / "other.key"),
            PageOptions(former=old.directory),
        )
    assert not (tmp_path / "new").exists()
