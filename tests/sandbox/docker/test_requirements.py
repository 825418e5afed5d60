"""What a policy demands of a host: sentences from an Engine's description, and a game that never starts with less."""

import os
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import docker
import pytest

from judge.base.errors import HostError, InputError
from judge.sandbox.box import BoxPolicy
from judge.sandbox.docker.engine import Engine
from judge.sandbox.docker.requirements import (
    ENGINE_FREEZES,
    LIMITS,
    MIN_TURN_MS,
    clock_obstacle,
    freezer_obstacle,
    host_obstacle,
    maps_users,
    notice_without_root,
    pipes_obstacle,
    refuse_stack,
    require,
    require_exact_clocks,
    security_options,
    unmet_requirements,
)
from tests.sandbox.conftest import NOBODY, Lodge, without_root

LIMITED = dict.fromkeys(LIMITS, True)
BARE = {**LIMITED, "SecurityOptions": ["name=seccomp,profile=default"], "Runtimes": {"runc": {"path": "runc"}}}
FULL = {
    **LIMITED,
    "SecurityOptions": ["name=apparmor", "name=seccomp,profile=builtin", "name=userns", "name=cgroupns"],
    "Runtimes": {"runc": {"path": "runc"}, "runsc": {"path": "/usr/bin/runsc"}},
}


def test_options_are_read_from_an_engine_s_description() -> None:
    assert security_options(BARE) == {"seccomp"}
    assert security_options(FULL) == {"apparmor", "seccomp", "userns", "cgroupns"}
    assert security_options({"SecurityOptions": None}) == set()
    assert [True, True, False] == [maps_users(info) for info in ({"SecurityOptions": ["name=rootless"]}, FULL, BARE)]


def test_sufficient_host_passes() -> None:
    assert [] == list(unmet_requirements(BoxPolicy(), BARE))
    assert [] == list(unmet_requirements(BoxPolicy(runtime="runsc"), FULL))


@pytest.mark.parametrize(
    ("policy", "info", "key", "fix"),
    [
        (BoxPolicy(), LIMITED, "has no seccomp", "CONFIG_SECCOMP_FILTER"),
        (BoxPolicy(), {**BARE, "PidsLimit": False}, "cannot limit processes", "boot with cgroup v2"),
        (BoxPolicy(runtime="runsc"), BARE, "box.runtime", "this Engine has runc"),
        (BoxPolicy(runtime="runsc", transport="pipes"), FULL, "box.transport", "set box.transport to auto"),
    ],
)
def test_missing_host_features_are_reported_with_the_fix(
    policy: BoxPolicy, info: dict[str, Any], key: str, fix: str
) -> None:
    (sentence,) = unmet_requirements(policy, info)
    assert key in sentence
    assert fix in sentence


@pytest.mark.docker
def test_pipes_are_used_where_the_engine_sees_this_process_and_its_files(monkeypatch: pytest.MonkeyPatch) -> None:
    host_obstacle.cache_clear()
    assert "" == pipes_obstacle(BoxPolicy())
    require_exact_clocks(BoxPolicy(), 0)
    temporary = tempfile.gettempdir()
    for hidden, reason in (("/proc", "the judge and the Engine share no kernel"), (temporary, "does not see /")):
        monkeypatch.setattr(Engine, "sees", lambda _, path, hidden=hidden: not path.is_relative_to(hidden))
        host_obstacle.cache_clear()
        with pytest.raises(HostError, match=reason):
            require_exact_clocks(BoxPolicy(), 0)
        require_exact_clocks(BoxPolicy(transport="pipes"), 0)
    host_obstacle.cache_clear()


@pytest.mark.docker
def test_engine_sees_the_files_of_its_host_only(tmp_path: Path) -> None:
    with closing(Engine()) as engine:
        assert engine.sees(tmp_path, Path("/proc/1"))
        assert not engine.sees(tmp_path, tmp_path / "missing")


@pytest.mark.parametrize("policy", [BoxPolicy(transport="attach"), BoxPolicy(runtime="runsc")])
def test_contest_refuses_a_policy_of_the_engine_s_stream(policy: BoxPolicy) -> None:
    with pytest.raises(HostError, match=f"each clock includes the Engine's delay: {policy.attach_reason}"):
        require_exact_clocks(policy, 0)


AS_ROOT = rf"as root: judge contest run CONTEST; chown -R {NOBODY} CONTEST"


@pytest.mark.docker
def test_without_root_the_differences_are_listed_and_what_needs_root_is_refused() -> None:
    with without_root():
        assert ENGINE_FREEZES in notice_without_root(BoxPolicy())
        assert ENGINE_FREEZES not in notice_without_root(BoxPolicy(freeze="none"))
        with pytest.raises(HostError, match=rf"box.freeze = 'unified'.* set box.freeze to auto, .*{AS_ROOT}"):
            require(BoxPolicy(freeze="unified"))
        for turn_ms in (0, MIN_TURN_MS):
            assert "" == clock_obstacle(BoxPolicy(), turn_ms)
        assert "" == clock_obstacle(BoxPolicy(freeze="none"), 1)
        with pytest.raises(HostError, match=rf"a turn has 50 ms, .*: allow 100 ms, .*{AS_ROOT}"):
            require_exact_clocks(BoxPolicy(), 50)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_as_root_nothing_differs() -> None:
    unified = BoxPolicy(freeze="unified")
    assert ["", "", ""] == [notice_without_root(BoxPolicy()), freezer_obstacle(unified), clock_obstacle(BoxPolicy(), 1)]


def test_a_stack_of_profiles_of_apparmor_is_refused_with_the_fix() -> None:
    for label in ("", "unconfined", "docker-default (enforce)", "runc (unconfined)"):
        refuse_stack(label)
    with pytest.raises(HostError, match=r"crun//&docker-default, so .*apparmor_parser -R /etc/apparmor\.d/crun\)"):
        refuse_stack("crun//&docker-default (mixed)")


@pytest.mark.docker
def test_this_engine_is_asked_before_play_and_a_box_is_not_made_with_less(lodge: Lodge) -> None:
    require(BoxPolicy())
    with pytest.raises(HostError, match=r"box\.runtime = 'no-such'"):
        require(BoxPolicy(runtime="no-such"))
    with pytest.raises(InputError, match="no seccomp profile 'defualt'"):
        require(BoxPolicy(seccomp_of={"python": "defualt"}))
    with pytest.raises(HostError, match="the policy requires it"):
        lodge("puppet", policy=BoxPolicy(runtime="no-such")).move_in()


@pytest.mark.docker
def test_the_apparmor_profile_of_the_engine_confines_the_box(lodge: Lodge, outsider: docker.DockerClient) -> None:
    if "apparmor" not in security_options(outsider.info()):
        pytest.skip("this host has no AppArmor")
    lodge("puppet").move_in()
    (container,) = outsider.containers.list(filters={"label": "judge.game=test"})
    confined = Path(f"/proc/{container.attrs['State']['Pid']}/attr/current").read_text()
    assert confined.strip() == "docker-default (enforce)"
