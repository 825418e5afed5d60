"""TOML files as people write them: read whatever editor saved them, or refused with the fix."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from judge.agents.manifest import read_manifest
from judge.base.errors import InputError
from judge.base.toml_files import MAX_BYTES, MAX_KEY_PARTS, parse, place_of, read_text
from judge.contest.plan import load_plan
from judge.record.policy import load_policy
from judge.sandbox.docker.seccomp import load_profile
from tests.cpu_limit import run_limited

FILE = Path("a.toml")
FORMS = ("utf-16", "utf-16-le", "utf-16-be", "utf-32")


def refusal(text: str) -> str:
    with pytest.raises(InputError) as caught:
        parse(FILE, text)
    return str(caught.value)


def test_line_of_a_key_counts_line_feeds_only() -> None:
    assert "a.toml, line 2" == place_of(FILE, ["b"], 'a = "x\u2028y" # \x85\r\nb = 1\r\n')


@pytest.mark.parametrize(
    ("data", "words"),
    [
        *(('name = "é"'.encode(form), f"it is {form[:6].upper()} text: save it as UTF-8 .*Notepad") for form in FORMS),
        ('a = 1\nb = "é"'.encode("latin-1"), "not UTF-8 text in line 2: save it as UTF-8"),
        (b"#" * (MAX_BYTES + 1), f"more than {MAX_BYTES} bytes"),
    ],
    ids=[*FORMS, "latin-1", "large"],
)
def test_bytes_that_are_no_utf_8_are_refused_with_the_fix(data: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_bytes(data)
    with pytest.raises(InputError, match=words):
        read_text(tmp_path / "a.toml", "a policy file")


MANIFEST = 'name = "mine"\ncommand = ["./mine"]\n'
POLICY = 'name = "mine"\n[game]\nname = "gomoku"\n'
CONTEST = 'name = "cup"\npolicy = "gomocup-standard"\n[format]\nname = "round-robin"\n'
PROFILE = 'about = "mine"\nmissing = []\n[allow]\n'


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (read_manifest, MANIFEST),
        (lambda path: load_policy(str(path)), POLICY),
        (load_plan, CONTEST),
        (lambda path: load_profile(str(path)), PROFILE),
    ],
    ids=["agent", "policy", "contest", "seccomp"],
)
def test_every_file_may_have_a_mark_and_is_refused_in_utf_16(
    read: Callable[[Path], object], text: str, tmp_path: Path
) -> None:
    def outcome(data: bytes) -> str:
        path = tmp_path / "one.toml"
        path.write_bytes(data)
        try:
            return str(read(path))
        except InputError as error:
            return str(error)

    assert outcome(text.encode()) == outcome(b"\xef\xbb\xbf" + text.encode())
    assert "it is UTF-16 text: save it as UTF-8" in outcome(text.encode("utf-16"))
    long_key = ".".join("a" * (MAX_KEY_PARTS + 1)) + " = 1\n"
    assert f"more than {MAX_KEY_PARTS} parts" in outcome((long_key + text).encode())


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ('command = ["python3", "src\\main.py"]', "write / between directories: src/main.py"),
        ('command = "C:\\Users\\me"', "write / between directories: C:/Users/me"),
        ("closes = 2027-03-31 18:00", "write it as 2027-03-31T18:00:00"),
        ("closes = 2027-03-31T9:05:00", "write it as 2027-03-31T09:05:00"),
        ("closes = 2027-03-31 18:00+02:00", "write it as 2027-03-31T18:00:00+02:00"),
        ("closes = 31.03.2027", "write a moment as year, month, day: 2027-03-31T18:00:00"),
        ("name = “mine”", "write straight quotes"),
        ("name = mine", 'write name = "mine"'),
        ("wait = True", "write true"),
        ("name: 1", "write name = …"),
        ('name = "mine', "a text has no closing quote"),
        ('name = "mine\nauthor = "me"', "a text has no closing quote"),
        ("a = 1\rb = 2", "not CR alone"),
        ("\u00a0a = 1", r"the invisible character U+00A0 (NO-BREAK SPACE)"),
        ("a = " + "9" * 5000, "a number of more than 4,300 digits"),
        ("a = 0x" + "f" * 5000, "a number of more than 4,300 digits"),
        ("a = " + "[" * 5000, "nested too deeply"),
        ('a = """\nb = ' + "[" * 5000, "Unterminated"),
    ],
)
def test_error_names_the_fix(text: str, fix: str) -> None:
    said = refusal(text)
    assert said.startswith("a.toml")
    assert fix in said


PARTS = ("a.", "a . ", '"a".', "'a'.", '"a b".')


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("around", ["{}a = 1", "[{}a]", "[[{}a]]", "b = {{ {}a = 1 }}", 'b = """x""""\n{}a = 1'])
def test_a_key_of_too_many_parts_is_refused_before_it_is_parsed(part: str, around: str) -> None:
    assert parse(FILE, around.format(part * (MAX_KEY_PARTS - 1)))
    assert f"more than {MAX_KEY_PARTS} parts" in refusal(around.format(part * MAX_KEY_PARTS))


def test_dots_in_texts_comments_and_numbers_are_no_parts_of_a_key() -> None:
    dots = "com.example." * 20
    lines = [f'a = "{dots}"', f"b = '{dots}'", f'c = """{dots}\n{dots}"""', f"# {dots}", f"d = [{'1.5, ' * 20}]"]
    assert {"a", "b", "c", "d"} == set(parse(FILE, "\n".join(lines)))


HOSTILE = (
    ".".join("a" * 200_000) + " = 1",
    'a = """' + '\\"""' * 200_000,
    '"""' * 100_000,
    "'" * 200_000,
    '"\\' * 100_000,
    "#\n" * 100_000,
    " ." * 100_000,
    "a = " + "{a=" * 100_000,
    "a.a" + " " * 200_000,
    "a.a.a.a.a.a.a.a.a.a\n" * 10_000,
    'a = "' + "\\" * 100_000,
    "a = b" + " " * 100_000 + "\x01",
)


def parse_hostile() -> None:
    refused = 0
    for text in HOSTILE:
        try:
            parse(FILE, text)
        except InputError:
            refused += 1
    sys.stdout.write(str(refused))


@pytest.mark.slow
def test_the_time_for_a_file_grows_with_its_size() -> None:
    assert "11" == run_limited(parse_hostile, cpu_s=20)
