"""The names of the house agents. `judge.host.house_agents` builds them."""

from judge.base.resources import IMAGES


def house_agent_names() -> list[str]:
    """Sorted: the folders `images/house-*` with a manifest."""
    return sorted(p.parent.name for p in IMAGES.glob("house-*/agent.toml"))
