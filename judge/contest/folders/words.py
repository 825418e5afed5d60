"""The initial persistent folders of a contest in words."""

from collections.abc import Collection, Sequence

from judge.base.text import sentence


def folder_words(names: Sequence[str], begun: Collection[str], source: str, strangers: Sequence[str] = ()) -> str:
    """Describe the initial folders; `begun`: agents with non-empty ones."""
    if not source:
        return sentence("the agents' persistent folders begin empty")
    words = [sentence(f"the agents' persistent folders begin with those of {source}")]
    words.append(", ".join(name for name in names if name in begun) or "none")
    if empty := [name for name in names if name not in begun]:
        words.append(sentence(f"empty: {', '.join(empty)}"))
    if strangers:
        words.append(sentence(f"without an agent here: {', '.join(strangers)}"))
    return "; ".join(words)
