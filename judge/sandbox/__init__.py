"""Where agents live: boxes, and everything that is needed to make, watch and remove them."""

from typing import Literal

from judge.sandbox.box import Box, BoxPolicy, Limits, Tenant

BoxKind = Literal["docker", "process"]


def open_box(kind: BoxKind, tenant: Tenant, limits: Limits, policy: BoxPolicy) -> Box:
    """A box for this tenant, not yet prepared. `process` isolates nothing: for authors who try their own agent."""
    from judge.sandbox.docker_box import DockerBox  # here: the Engine's client takes long to import

    if kind == "docker":
        return DockerBox(tenant, limits, policy)
    raise NotImplementedError(kind)
