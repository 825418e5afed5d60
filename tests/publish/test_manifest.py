"""The manifest and the key: what was changed is found, and a hostile manifest opens nothing outside its directory."""

import json
import shutil
import subprocess
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.base.errors import InputError
from judge.base.progress import untracked
from judge.publish import manifest as manifests
from judge.publish.manifest import MANIFEST, PUBLIC_KEY, SIGNATURE, FileCheck, check_manifest
from judge.transparency.keys import fingerprint, load_key, load_public_key, make_key, public_pem


class Signed:
    def __init__(self, folder: Path) -> None:
        self.directory = folder / "signed"
        (self.directory / "data").mkdir(parents=True)
        (self.directory / "a.txt").write_text("one")
        (self.directory / "data/b.txt").write_text("two")
        self.key = make_key(folder / "organiser.key")
        self.public = folder / "organiser.pem"
        self.public.write_bytes(public_pem(self.key.public_key()))
        self.digest = manifests.write_manifest(self.directory, "cup", self.key)

    def problems(self) -> list[str]:
        return list(check_manifest(self.directory, self.public).problems)

    def sign(self, data: bytes) -> None:
        """Put another manifest there, signed by the organiser."""
        (self.directory / MANIFEST).write_bytes(data)
        (self.directory / SIGNATURE).write_bytes(self.key.sign(data))


@pytest.fixture
def signed(tmp_path: Path) -> Signed:
    return Signed(tmp_path)


def test_unchanged_files_are_complete_and_known_digests_are_listed(signed: Signed) -> None:
    checked = check_manifest(signed.directory, signed.public)

    assert [] == list(checked.problems)
    assert (signed.digest, fingerprint(signed.key.public_key())) == (checked.digest, checked.fingerprint)
    assert "cup" == checked.contest
    listed = json.loads((signed.directory / MANIFEST).read_bytes())["files"]
    assert ["a.txt", "data/b.txt", PUBLIC_KEY] == [file["path"] for file in listed]
    # Known digests are listed unread.
    manifests.write_manifest(signed.directory, "cup", signed.key, known={"a.txt": ("0" * 64, 3)})
    assert ["a.txt: changed"] == signed.problems()


def test_files_checked_in_steps_have_the_same_problems(signed: Signed) -> None:
    (signed.directory / "a.txt").write_text("ONE")
    files = FileCheck(signed.directory, signed.public)

    assert [] == list(files.checked.problems)
    assert ["a.txt", "data/b.txt"] == list(islice(files, 2))
    files.finish(untracked)
    assert signed.problems() == list(files.checked.problems) == ["a.txt: changed"]


def link_folder(directory: Path) -> None:
    shutil.rmtree(directory / "data")
    (directory / "data").symlink_to("/etc")


LINK = "a link or a special file, which is not allowed in an export"
CHANGES: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "longer": (lambda at: (at / "a.txt").write_text("one more"), ["a.txt: changed"]),
    "a folder that is a link": (link_folder, [f"data: {LINK}", "data/b.txt: missing"]),
    "hidden": (lambda at: (at / ".hidden").write_text("4"), ["'.hidden': not a valid name of a published file"]),
}


@pytest.mark.parametrize("change", CHANGES)
def test_changed_files_are_named(signed: Signed, change: str) -> None:
    how, problems = CHANGES[change]
    how(signed.directory)

    assert problems == signed.problems()


@pytest.mark.parametrize(
    "path", ["../organiser.key", "/etc/passwd", "data/../../x", "", "a\nb", "a/", "\u202ea", "a\\b"]
)
def test_manifest_that_leaves_its_directory_is_invalid(signed: Signed, path: str) -> None:
    listed = {"path": path, "sha256": "0" * 64, "size": 1}
    document = {"contest": "cup", "files": [listed], "format": "judge-manifest-1"}
    signed.sign(json.dumps(document).encode())

    (problem,) = signed.problems()
    assert problem.endswith("is not a valid name of a published file")


@given(name=st.text(), size=st.integers(min_value=0))
def test_encoded_manifest_is_sorted_ascii_json_without_spaces(name: str, size: int) -> None:
    listed = {"path": name[:400], "sha256": "0" * 64, "size": size}
    document = {"format": "judge-manifest-1", "contest": name, "files": [listed]}

    text = json.dumps(document, sort_keys=True, separators=(",", ":"))

    assert f"{text}\n".encode() == manifests.ExportManifest.model_validate(document).encoded()


def test_a_file_that_is_listed_twice_is_found(signed: Signed) -> None:
    document = json.loads((signed.directory / MANIFEST).read_bytes())
    document["files"].insert(0, document["files"][0] | {"sha256": "0" * 64})
    signed.sign(json.dumps(document, sort_keys=True, separators=(",", ":")).encode() + b"\n")

    assert "not canonical: each file must be listed once, sorted by path" in signed.problems()[0]


def test_a_huge_manifest_is_not_read(signed: Signed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifests, "MAX_MANIFEST_BYTES", 100)

    with pytest.raises(InputError, match="larger than the limit of 100 bytes"):
        signed.problems()


@pytest.mark.parametrize("name", [MANIFEST, SIGNATURE])
def test_a_link_in_place_of_the_manifest_is_refused(signed: Signed, name: str) -> None:
    (signed.directory / name).rename(signed.directory.parent / name)
    (signed.directory / name).symlink_to(signed.directory.parent / name)

    with pytest.raises(InputError, match="a link, which is not followed"):
        signed.problems()


def test_many_problems_are_summarised(signed: Signed) -> None:
    for number in range(200):
        (signed.directory / f"{number}.txt").touch()

    assert (51, "and 150 more") == (len(signed.problems()), signed.problems()[-1])


def test_uncheckable_checkpoint_is_not_signed(signed: Signed) -> None:
    (signed.directory / "link").symlink_to("/etc/passwd")

    with pytest.raises(InputError, match="link: a link or a special file"):
        manifests.write_manifest(signed.directory, "cup", signed.key)


def test_other_tools_check_the_signature(signed: Signed) -> None:
    """OpenSSL as the page on verifying has it."""
    command = f"openssl pkeyutl -verify -pubin -inkey {PUBLIC_KEY} -rawin -in {MANIFEST} -sigfile {SIGNATURE}"
    done = subprocess.run(command.split(), cwd=signed.directory, capture_output=True, text=True, check=False)

    assert "Signature Verified Successfully" in done.stdout


def test_a_key_is_made_once_and_only_its_owner_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "organiser.key"
    key = make_key(path)

    assert 0o600 == path.stat().st_mode & 0o777
    assert public_pem(key.public_key()) == public_pem(load_key(path).public_key())
    with pytest.raises(InputError, match="never overwritten"):
        make_key(path)
    path.chmod(0o640)
    with pytest.raises(InputError, match=r"mode 0640\); run: chmod 600"):
        load_key(path)


@pytest.mark.parametrize("data", [b"", b"hello", b"-----BEGIN PRIVATE KEY-----\nAAAA\n"])
def test_invalid_key_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "organiser.key"
    path.write_bytes(data)
    path.chmod(0o600)

    for load in (load_key, load_public_key):
        with pytest.raises(InputError):
            load(path)


def test_the_secret_half_is_not_taken_for_the_public_one(tmp_path: Path) -> None:
    make_key(tmp_path / "organiser.key")

    with pytest.raises(InputError, match="this is a private key"):
        load_public_key(tmp_path / "organiser.key")
