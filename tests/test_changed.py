"""`scripts/test --changed` runs the tests for changed packages, their importers, and public interfaces."""

import pytest

from tests import changed
from tests.changed import OF_ALL


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("judge/cli/play.py", {"tests/cli", *OF_ALL}),
        (
            "judge/publish/verify/export.py",
            {"tests/verify", "tests/cup", "tests/cli/test_cup.py", "tests/web", "tests/cli", *OF_ALL},
        ),
        ("docs/play.md", {"tests/test_docs.py"}),
        ("tests/golden/export.txt", {"tests/golden"}),
        ("tests/verify/test_draw.py", {"tests/verify/test_draw.py"}),
        ("scripts/test", set()),
    ],
)
def test_tests_of_a_file(file: str, expected: set[str]) -> None:
    assert sorted(expected) == changed.tests_of([file])
