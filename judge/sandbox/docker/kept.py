"""Idle containers that wait for the next game of their agents. See decision 0011."""

import os
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from functools import cache
from multiprocessing.util import Finalize
from threading import Lock

from judge.base.errors import HostError
from judge.base.logs import get_logger
from judge.sandbox.box import BoxPolicy, Limits, Tenant
from judge.sandbox.docker.renewal import KeptContainer, Renewal, UncleanError, helper

log = get_logger()

MAX_IDLE_CONTAINERS = 4
"""Per process: two for each seat."""

CHECKED_PROFILE = "native"
"""Only under this profile all possible leftovers are checked."""


class KeptContainers:
    """The idle containers of this process, by their agents and how they were made. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._waiting: OrderedDict[tuple[Hashable, str], Renewal] = OrderedDict()
        self._owner = 0

    def put(self, key: Hashable, renewal: Renewal) -> None:
        with self._lock:
            if self._owner != os.getpid():
                self._owner = os.getpid()
                Finalize(None, self.close, exitpriority=0)  # also in a worker process
            self._waiting[key, renewal.container.id] = renewal
            surplus = len(self._waiting) - MAX_IDLE_CONTAINERS
            removed = [self._waiting.popitem(last=False)[1] for _ in range(surplus)]
        for each in removed:
            each.container.close()

    def take(self, key: Hashable) -> Renewal | None:
        """The agent's most recent container, if nothing has run in it since; else None."""
        while (renewal := self._pop(key)) is not None:
            try:
                renewal.prove_alone()
                renewal.container.restart_counters()
            except (UncleanError, OSError) as error:
                log_unclean(renewal.container, error)
                renewal.container.close()
            else:
                renewal.container.is_reused = True
                return renewal
        return None

    def _pop(self, key: Hashable) -> Renewal | None:
        with self._lock:
            found = next((each for each in reversed(self._waiting) if each[0] == key), None)
            return None if found is None else self._waiting.pop(found)

    def all(self) -> Sequence[KeptContainer]:
        with self._lock:
            return tuple(renewal.container for renewal in self._waiting.values())

    def close(self, but_of: str = "") -> None:
        """Remove all except those of the agent with the digest `but_of`. Never raises."""
        with self._lock:
            waiting = self._waiting.items()
            keys = [key for key, each in waiting if not but_of or each.container.tenant.digest != but_of]
            removed = [self._waiting.pop(key) for key in keys]
        for each in removed:
            each.container.close()


KEPT = KeptContainers()


class Reuse:
    """`take` or `begin` before the game, `keep` after it."""

    def __init__(self, tenant: Tenant, limits: Limits, policy: BoxPolicy) -> None:
        self._runtime = tenant.runtime
        self._policy = policy
        self._renewal: Renewal | None = None
        self._is_wanted = policy.reuse != "never" and bool(tenant.digest)
        if self._is_wanted:
            agent = (tenant.digest, tenant.name, tenant.program, tenant.command, tenant.runtime, tenant.environment)
            self._key = (*agent, policy.model_dump_json(), limits.model_dump_json())
            if reason := _obstacle(tenant, policy):
                self._refuse(reason)

    def _refuse(self, reason: str) -> None:
        self._is_wanted = False
        if self._policy.reuse == "agent":
            log_no_effect(reason)

    @property
    def is_possible(self) -> bool:
        return self._renewal is not None

    def take(self) -> KeptContainer | None:
        self._renewal = KEPT.take(self._key) if self._is_wanted else None
        return self._renewal.container if self._renewal else None

    def begin(self, container: KeptContainer) -> bool:
        """If False, the container is unusable."""
        if self._is_wanted and container.profile != CHECKED_PROFILE:
            self._refuse(f"the seccomp profile {container.profile} of {self._runtime} allows more than is undone")
        if not self._is_wanted:
            return True
        renewal = Renewal(container)
        try:
            renewal.begin()
        except (UncleanError, OSError) as error:
            self._refuse(str(error))
            return False
        self._renewal = renewal
        return True

    def keep(self, *, is_at_rest: bool) -> bool:
        """Renew and keep it. False if it was not verified as clean."""
        renewal, self._renewal = self._renewal, None
        if renewal is None:
            return False
        if not is_at_rest:
            if self._policy.reuse == "agent":
                log.info("a box whose agent did not end by itself serves no other game", box=str(renewal.container))
            return False
        try:
            if renewal.container.meter.readings().oom_kills:
                raise UncleanError("it ran out of memory")
            renewal.renew()
        except (UncleanError, HostError, OSError) as error:
            log_unclean(renewal.container, error)
            return False
        KEPT.put(self._key, renewal)
        return True


def _obstacle(tenant: Tenant, policy: BoxPolicy) -> str:
    if tenant.folders:
        return "a game with kept folders has new volumes, and a container cannot be given others"
    if policy.runtime not in ("", "runc"):
        return f"what the Engine's runtime {policy.runtime} leaves is not known (box.runtime)"
    try:
        helper()
    except UncleanError as error:
        return str(error)
    return ""


def log_unclean(container: KeptContainer, error: Exception) -> None:
    """Log the reason against reuse."""
    log.warning(
        "a box that cannot be proved clean is thrown away; the next game gets a fresh one",
        box=str(container),
        why=str(error),
    )


@cache
def log_no_effect(why: str) -> None:
    """Log once per reason that boxes cannot be reused."""
    log.warning("box.reuse has no effect: each game has a fresh box", why=why)
