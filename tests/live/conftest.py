"""One browser for all of these tests."""

from tests.publish.conftest import browser  # noqa: F401 - a fixture
