"""Where agents live: boxes, and everything that is needed to make, watch and remove them."""

from typing import Literal

from judge.sandbox.box import Box, BoxPolicy, Limits, Tenant

__all__ = ["Box", "BoxKind", "BoxPolicy", "Limits", "Tenant", "open_box"]

BoxKind = Literal["docker", "process"]


def open_box(kind: BoxKind, tenant: Tenant, limits: Limits, policy: BoxPolicy) -> Box:
    """A box for this tenant, not yet prepared. `process` isolates nothing: for authors who try their own agent."""
    if kind == "process":
        from judge.sandbox.process_box import ProcessBox

        return ProcessBox(tenant, limits, policy)

    from judge.sandbox.docker_box import DockerBox  # here: the Engine's client takes long to import

    return DockerBox(tenant, limits, policy)
