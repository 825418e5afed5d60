"""What a policy demands of a host: sentences from an Engine's description, and a game that never starts with less."""

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
    host_obstacle,
    maps_users,
    pipes_obstacle,
    refuse_stack,
    require,
    require_pipes,
    security_options,
    unmet_requirements,
)
from tests.sandbox.conftest import Lodge

BARE = {"SecurityOptions": ["name=seccomp,profile=default"], "Runtimes": {"runc": {"path": "runc"}}}
FULL = {
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
        (BoxPolicy(), {}, "has no seccomp", "CONFIG_SECCOMP_FILTER"),
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
    require_pipes(BoxPolicy())
    temporary = tempfile.gettempdir()
    for hidden, reason in (("/proc", "the judge and the Engine share no kernel"), (temporary, "does not see /")):
        monkeypatch.setattr(Engine, "sees", lambda _, path, hidden=hidden: not path.is_relative_to(hidden))
        host_obstacle.cache_clear()
        with pytest.raises(HostError, match=reason):
            require_pipes(BoxPolicy())
        require_pipes(BoxPolicy(transport="pipes"))
    host_obstacle.cache_clear()


@pytest.mark.docker
def test_engine_sees_the_files_of_its_host_only(tmp_path: Path) -> None:
    with closing(Engine()) as engine:
        assert engine.sees(tmp_path, Path("/proc/1"))
        assert not engine.sees(tmp_path, tmp_path / "missing")


@pytest.mark.parametrize("policy", [BoxPolicy(transport="attach"), BoxPolicy(runtime="runsc")])
def test_contest_refuses_a_policy_of_the_engine_s_stream(policy: BoxPolicy) -> None:
    with pytest.raises(HostError, match=f"each clock includes the Engine's delay: {policy.attach_reason}"):
        require_pipes(policy)


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
