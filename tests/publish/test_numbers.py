"""One definition of the digest of a contest's terms: verify.mjs writes numbers as Python does."""

import json
import math
import random
import re
import shutil
import struct
import subprocess
from pathlib import Path

from judge.export.export import PageOptions, publish
from judge.transparency.keys import make_key
from judge.verify.export import verify_export
from tests.publish.cups import Cup
from tests.publish.public import Public
from tests.verify.log_forgeries import PAIR, nothing
from tests.verify.test_second_verifier import VERIFIER
from tests.verify.test_second_verifier import problems as problems_by_node

CHOSEN = (
    1e-5,
    1e-7,
    1e-4,
    0.0001234,
    1e15,
    1e16,
    1e17,
    1e21,
    1e22,
    1e23,
    -0.0,
    0.0,
    5e-324,
    -2.5e-308,
    1.7e308,
    0.1,
    1 / 3,
)


def floats(count: int) -> list[float]:
    """Floats of every kind: chosen ones, powers of ten and two with their neighbours, random bits, few decimals."""
    chance = random.Random(7)
    powers = [base**power for base in (2.0, 10.0) for power in range(-300, 300)]
    near = [math.nextafter(value, to) for value in powers for to in (0.0, math.inf)]
    bits: list[float] = [struct.unpack("<d", chance.randbytes(8))[0] for _ in range(count)]
    few = [round(chance.uniform(-1e4, 1e4), chance.randrange(6)) for _ in range(count)]
    return [value for value in (*CHOSEN, *powers, *near, *bits, *few) if math.isfinite(value)]


def written_by_node(tokens: list[str], folder: Path) -> list[str]:
    """What the function of verify.mjs makes of numbers as they are written."""
    (function,) = re.findall(r"  function pythonNumber\(.*?\n  }\n", VERIFIER.read_text(), re.DOTALL)
    script = f"{function}\nconst given = JSON.parse(require('fs').readFileSync(0));"
    (folder / "numbers.js").write_text(f"{script}\nconsole.log(JSON.stringify(given.map(pythonNumber)));")
    node = shutil.which("node")
    assert node is not None
    done = subprocess.run(
        [node, folder / "numbers.js"], input=json.dumps(tokens), capture_output=True, text=True, check=True
    )
    written: list[str] = json.loads(done.stdout)
    return written


def test_floats_are_written_alike_in_whatever_form_they_come(tmp_path: Path) -> None:
    values = floats(20_000)
    for form in (repr, "{:.17e}".format, "{:.25g}".format):
        tokens = [form(value) for value in values]
        expected = [json.dumps(json.loads(token)) for token in tokens]
        assert expected == written_by_node(tokens, tmp_path)


def test_integers_are_written_alike(tmp_path: Path) -> None:
    tokens = ["0", "-0", "1", "-1", str(2**53 + 1), str(-(10**40)), "123456789012345678901234567890"]
    assert [json.dumps(json.loads(token)) for token in tokens] == written_by_node(tokens, tmp_path)


def test_contest_with_small_and_large_numbers_is_accepted_by_both(tmp_path: Path) -> None:
    """pydantic writes 0.00001 into contest.json, and the digest is over 1e-05."""
    public = Public(tmp_path, make_key(tmp_path / "my.key"))
    with Cup(tmp_path / "cup", PAIR, more="[failures]\nlimit = 0.00001\nafter = 99", drawn=nothing) as cup:
        cup.play()
        publish(cup.contest, public.directory, public.private, public.key, PageOptions(languages=("en",)))
    assert '"limit":0.00001' in (public.directory / "contest.json").read_text()

    assert [] == list(verify_export(public.directory, public.public_key).problems)
    assert [] == problems_by_node(public.directory, public.public_key)
