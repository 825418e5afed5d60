"""Contests are tried on both databases, too."""

from tests.store.conftest import postgresql, url  # noqa: F401 - fixtures
