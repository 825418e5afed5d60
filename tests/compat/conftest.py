"""The databases of the store's tests."""

from tests.store.conftest import postgresql, url  # noqa: F401 - fixtures
