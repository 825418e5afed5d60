"""The `judge` command, for those tests that run a whole contest by it."""

from tests.cli.conftest import judge  # noqa: F401 - a fixture
