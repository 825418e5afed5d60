"""A development version may miss what a release needs."""

import pytest

from tests.releases import require_for_release


def test_development_version_warns_of_what_is_missing() -> None:
    with pytest.warns(UserWarning, match="not ready for a release: translations: a, b"):
        require_for_release("translations", ["a", "b"], is_development=True)


def test_release_fails_for_what_is_missing() -> None:
    with pytest.raises(AssertionError, match="translations: a, b"):
        require_for_release("translations", ["a", "b"], is_development=False)


@pytest.mark.parametrize("is_development", [False, True])
def test_complete_version_passes_without_a_warning(is_development: bool) -> None:
    require_for_release("translations", [], is_development)
