"""Requirements of a release that a development version may miss."""

import warnings
from collections.abc import Collection

import judge

IS_DEVELOPMENT = ".dev" in judge.__version__


def require_for_release(subject: str, missing: Collection[object], is_development: bool = IS_DEVELOPMENT) -> None:
    """Warn of what is missing in a development version. Raises AssertionError in a release."""
    text = f"not ready for a release: {subject}: {', '.join(map(str, missing))}"
    assert is_development or not missing, text
    if missing:
        warnings.warn(text, stacklevel=2)
