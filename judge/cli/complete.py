"""What the shell offers behind a Tab: agents and policies by name."""

from collections.abc import Iterator
from pathlib import Path

from judge.host.house_agents import house_agent_names
from judge.referee.policy import policy_names, variants_of


def policy_words(incomplete: str) -> Iterator[str]:
    """Policies, and behind a colon their variants; files ending in .toml."""
    for name in policy_names():
        yield from (
            word
            for word in (name, *(f"{name}:{variant}" for variant in variants_of(name)))
            if word.startswith(incomplete)
        )
    yield from _paths(incomplete, ".toml")


def agent_words(incomplete: str) -> Iterator[str]:
    """House agents, and paths."""
    yield from (name for name in house_agent_names() if name.startswith(incomplete))
    yield from _paths(incomplete, "")


def _paths(incomplete: str, ending: str) -> Iterator[str]:
    folder, _, start = incomplete.rpartition("/")
    before = f"{folder}/" if folder else ""
    try:
        found = sorted(Path(folder or ("/" if incomplete.startswith("/") else ".")).iterdir())
    except OSError:
        return
    for path in found:
        if path.name.startswith(start) and not path.name.startswith("."):
            if path.is_dir():
                yield f"{before}{path.name}/"
            elif path.name.endswith(ending):
                yield f"{before}{path.name}"
