"""What a box promises, told once for every kind of box."""

import errno
import gc
import os
from pathlib import Path

import docker
import pytest
from structlog.testing import capture_logs

from judge.base.errors import HostError
from judge.base.owner import directories
from judge.sandbox.box import BoxPolicy, Channel, Limits
from judge.sandbox.docker import docker_box, requirements
from judge.sandbox.docker.engine import Engine
from judge.sandbox.evidence import ProcessReport
from judge.sandbox.machine import cgroup
from judge.sandbox.machine.cores import parse_processors
from judge.sandbox.machine.pipes import CHUNK_BYTES
from judge.sandbox.machine.users import AGENT_IDS, FIRST_AGENT_ID
from tests.examples import evidence, of_evidence
from tests.patience import PATIENCE_S
from tests.sandbox.conftest import ATTACH, GROUP, PIPES, PROCESS, REMOTE, Lodge, Variant, of
from tests.sandbox.guest import Guest, work_for

everywhere = of(PIPES, ATTACH, GROUP, REMOTE, PROCESS)
by_each_transport = of(PIPES, ATTACH, PROCESS, evidence=(GROUP, REMOTE))
in_a_container_and_a_process = of(PIPES, PROCESS, evidence=(ATTACH, GROUP, REMOTE))
near_and_far = of(PIPES, REMOTE, evidence=(ATTACH, GROUP))
with_and_without_root = of(PIPES, GROUP, evidence=(ATTACH, REMOTE))
in_a_container = of(PIPES, evidence=(ATTACH, GROUP, REMOTE))
through_pipes = of(PIPES, GROUP)
without_root = of(GROUP)

STILL_NS = 1_000_000
"""The most that a box may use while it stands still: the last steps of its way there."""

MANY_CALLS = BoxPolicy(seccomp_of={"native": "engine"})
"""Where an agent may make memory that is no process's own."""

SMALL = Limits(memory_bytes=32 << 20, temporary_bytes=4 << 20, scratch_bytes=1 << 20)


@everywhere
def test_a_line_comes_back(guest: Guest, variant: Variant) -> None:
    names = {"docker-group": "docker-pipes", "docker-remote": "docker-attach"}
    assert guest.box.name == names.get(variant.name, variant.name)
    assert guest.ask("say hello") == "hello"
    assert guest.ask("say again") == "again"
    assert guest.reports == [ProcessReport("started")]
    assert not guest.ends


@by_each_transport
def test_stderr_arrives_apart(guest: Guest) -> None:
    assert guest.ask("complain bitterly") == "complained"
    guest.until(lambda: guest.heard[Channel.ERR] == b"bitterly\n")
    assert guest.heard[Channel.OUT] == b"complained\n"


@by_each_transport
def test_a_large_write_is_taken_in_parts_and_completed_later(guest: Guest) -> None:
    data = bytes(range(256)) * (32 << 10)
    guest.tell(f"swallow {len(data)}")
    guest.freeze()
    taken = fill_up(guest, data)
    assert 0 < taken < len(data)
    guest.box.thaw()
    while taken < len(data):
        written = guest.box.write(data[taken:])
        assert written >= 0
        taken += written
        guest.take_in()
    assert guest.line() == f"swallowed {sum(data)}"


def fill_up(guest: Guest, data: bytes) -> int:
    """Write until nothing is taken any more; how much was."""
    taken = 0
    while written := guest.box.write(data[taken:]):
        taken += written
    return taken


@by_each_transport
def test_a_flood_arrives_whole_and_in_bounded_reads(guest: Guest) -> None:
    guest.ask("spout 3000000")
    assert guest.heard[Channel.OUT] == b"x" * 3_000_000 + b"\n"
    assert guest.largest_read <= 4 * CHUNK_BYTES  # the Engine's frames have another size


@by_each_transport
def test_an_agent_gets_three_descriptors(guest: Guest) -> None:
    assert guest.ask("list /proc/self/fd") == "0 1 2 "


@in_a_container
def test_an_agent_finds_no_signal_blocked_or_ignored(guest: Guest) -> None:
    """A process box passes on what the judge itself was started with (under nohup, say)."""
    assert int(guest.ask("status SigBlk"), 16) == 0
    assert int(guest.ask("status SigIgn"), 16) == 0


@in_a_container_and_a_process
def test_an_agent_gets_nothing_of_the_judges_environment(guest: Guest) -> None:
    assert guest.ask("environment HOME") == guest.ask("cwd")
    assert guest.ask("environment DOCKER_HOST") == "(none)"
    assert guest.ask("variables") == "variables 8"  # seven, and HOSTNAME by the Engine or JUDGE_BOX for the reaper


@by_each_transport
def test_exit_is_reported_after_all_output_and_readings_outlive_it(guest: Guest) -> None:
    guest.tell("say goodbye\nleave 3")
    assert guest.end() == ProcessReport("exited", 3)
    assert guest.heard[Channel.OUT] == b"goodbye\n"
    assert sorted(guest.ends) == [Channel.ERR, Channel.OUT]
    readings = guest.box.meter.readings()
    assert readings.memory_peak_bytes
    assert readings.cpu_ns is not None


@in_a_container_and_a_process
@pytest.mark.parametrize(("act", "number"), [("fail", 6), ("kill 9", 9)])
def test_agent_that_ends_itself_by_a_signal_differs_from_a_lost_agent(guest: Guest, act: str, number: int) -> None:
    guest.tell(act)
    assert guest.end() == ProcessReport("signalled", number)


@in_a_container_and_a_process
@pytest.mark.parametrize(
    ("command", "number"),
    [
        ("no-such-program", errno.ENOENT),
        ("notes.txt", errno.EACCES),
        ("garbage", errno.ENOEXEC),
        ("./" + 300 * "x", errno.ENAMETOOLONG),
    ],
)
def test_unexecutable_file_is_reported_with_the_reason(lodge: Lodge, command: str, number: int) -> None:
    guest = lodge(command).move_in()
    assert guest.reports == [ProcessReport("exec-failed", number)]
    guest.until(lambda: {Channel.OUT, Channel.ERR} <= set(guest.ends))


@in_a_container_and_a_process
@pytest.mark.parametrize("word", [300 * "x", "a/" * 2000, "x:" + 300 * "x", *of_evidence(4096 * "x", "\u00e9" * 200)])
def test_a_word_that_is_too_long_for_a_file_name_is_passed_on(lodge: Lodge, word: str) -> None:
    assert "here" == lodge("puppet", word).move_in().ask("say here")


@of(PIPES, ATTACH, evidence=(GROUP, REMOTE))
def test_an_agent_can_open_its_streams_by_name(guest: Guest) -> None:
    assert "open 0" == guest.ask("read /proc/self/fd/0")
    assert "open 0" == guest.ask("write /proc/self/fd/1")
    assert "open 0" == guest.ask("write /proc/self/fd/2")


@by_each_transport
def test_writing_to_a_dead_agent_does_not_block(guest: Guest) -> None:
    guest.tell("leave 0")
    guest.end()
    assert guest.box.write(b"x" * 100_000) == -1
    assert guest.box.write(b"x") == -1


@in_a_container_and_a_process
def test_a_daemonised_grandchild_is_killed_and_the_end_is_clean(guest: Guest) -> None:
    assert guest.ask("daemonise").startswith("daemon ")
    guest.tell("leave 3")
    assert guest.end() == ProcessReport("exited", 3)
    assert sorted(guest.ends) == [Channel.ERR, Channel.OUT]


@by_each_transport
def test_output_that_fills_the_pipe_at_the_end_arrives(guest: Guest) -> None:
    guest.tell("spoil 3")
    assert guest.end() == ProcessReport("exited", 3)
    assert len(guest.heard[Channel.OUT]) >= 4096
    assert set(guest.heard[Channel.OUT]) <= {0}


@by_each_transport
def test_a_killed_agent_leaves_readings(guest: Guest) -> None:
    guest.ask("burn")
    guest.until_busy()
    guest.box.kill()
    assert guest.end() == ProcessReport("signalled", 9)
    guest.box.kill()
    readings = guest.box.meter.readings()
    assert readings.cpu_ns
    assert readings.memory_peak_bytes


@in_a_container_and_a_process
def test_a_frozen_agent_can_be_killed(guest: Guest) -> None:
    guest.ask("burn")
    guest.freeze()
    guest.box.kill()
    assert guest.end() == ProcessReport("signalled", 9)


@pytest.mark.docker
@of(PIPES, REMOTE, PROCESS, evidence=(ATTACH, GROUP))
def test_close_leaves_nothing(guest: Guest, outsider: docker.DockerClient, variant: Variant) -> None:
    guest.ask("daemonise")
    guest.freeze()
    guest.close()
    guest.close()
    assert not [path for path, owner in directories() if owner and owner.pid == os.getpid()]
    if variant is not PROCESS:
        assert not containers_of_this_process(outsider)


def containers_of_this_process(client: docker.DockerClient) -> list[str]:
    mine = f":{os.getpid()}:"
    containers = client.containers.list(all=True, filters={"label": "judge.owner"}, ignore_removed=True)
    return [str(container.id) for container in containers if mine in container.labels["judge.owner"]]


@in_a_container_and_a_process
def test_a_box_can_be_closed_at_any_time(lodge: Lodge) -> None:
    lodge("puppet").box.close()
    prepared = lodge("puppet")
    prepared.box.prepare()
    prepared.box.close()
    prepared.box.close()


@of(PIPES, GROUP, PROCESS, evidence=[ATTACH])
@pytest.mark.parametrize("is_frozen", [False, True], ids=["runs", "stands-still"])
def test_a_box_that_leaves_runs_nothing_more(lodge: Lodge, is_frozen: bool) -> None:
    guest = lodge("puppet").move_in()
    guest.tell("burn-alone")
    if is_frozen:
        guest.freeze()
    peak = guest.box.meter.readings().memory_peak_bytes
    guest.box.leave()
    guest.end()
    used = guest.cpu_ns()
    work_for(0.05)

    assert used == guest.cpu_ns()
    assert (guest.box.meter.readings().memory_peak_bytes or 0) >= (peak or 0) > 0
    guest.box.leave()
    guest.box.close()
    guest.box.leave()


@everywhere
def test_unprepared_box_reports_it(lodge: Lodge) -> None:
    with pytest.raises(HostError, match="not prepared"):
        lodge("puppet").box.start()


@of(PIPES, GROUP, PROCESS, evidence=[ATTACH])
@pytest.mark.parametrize("act", ["vfork-loop", *of_evidence("burn", "burn-alone")])
def test_frozen_box_uses_no_cpu_and_resumes_after_the_thaw(guest: Guest, act: str) -> None:
    guest.until(lambda: guest.box.meter.is_busy() is False)
    assert guest.ask(act) == "burning"
    for _ in range(3):
        guest.until_busy()
        guest.until(lambda: guest.box.meter.is_busy() is True)
        guest.freeze()
        before = guest.cpu_ns()
        work_for(0.05)
        assert guest.cpu_ns() - before < STILL_NS
        guest.box.thaw()
    guest.until_busy()


def mounted() -> set[str]:
    return set(cgroup.parse_mounts(Path("/proc/self/mountinfo").read_text(encoding="utf-8")))


@pytest.mark.docker
@pytest.mark.parametrize("freeze", ["unified", "v1", "engine"])
def test_each_freezer_of_this_host_freezes(lodge: Lodge, freeze: str) -> None:
    hierarchy = {"unified": cgroup.UNIFIED, "v1": "freezer"}.get(freeze)
    if hierarchy is not None and hierarchy not in mounted():
        pytest.skip(f"this host has no {freeze} freezer")
    guest = lodge("puppet", policy=BoxPolicy.model_validate({"freeze": freeze})).move_in()
    guest.ask("burn")
    guest.freeze()
    before = guest.cpu_ns()
    work_for(0.05)
    assert guest.cpu_ns() - before < STILL_NS
    guest.box.thaw()
    guest.until_busy()


@by_each_transport
def test_a_request_written_to_a_frozen_agent_is_read_after_the_thaw(guest: Guest) -> None:
    guest.ask("say hello")
    guest.freeze()
    guest.tell("say now")
    guest.box.thaw()
    assert guest.line() == "now"


IS_DENIED, IS_READ_ONLY = (f"open {number}" for number in (errno.EACCES, errno.EROFS))
CANNOT_RUN = f"exec {errno.EACCES}"
ANSWERS: dict[str, dict[str, tuple[str, ...]]] = {
    "files outside of its folders": {
        "read /agent/puppet": ("open 0",),
        "write /agent/new": (IS_READ_ONLY,),
        "write /new": (IS_READ_ONLY, IS_DENIED),
        "write /dev/new": (IS_DENIED,),
        "write /etc/passwd": (IS_READ_ONLY, IS_DENIED),
        "write /dev/shm/new": ("open 0",),
        "write /home/agent/new": ("open 0",),
        "write /tmp/new": ("open 0",),
    },
    "programs that it writes": {
        "run-own /home/agent/own": (CANNOT_RUN,),
        "run-own /tmp/own": (CANNOT_RUN,),
        "run-own /dev/shm/own": (CANNOT_RUN,),
    },
    "the bytes of its folder": {"fill /home/agent/file": ("no space after 20971520",)},
    "the files of its folder": {"fill-inodes /home/agent": ("no inode after 2046", "no inode after 2047")},
}
"""What an agent tries, and what the kernel may say to it."""


@in_a_container
@pytest.mark.parametrize("what", ANSWERS)
def test_an_agent_reaches_its_folders_and_nothing_else(guest: Guest, what: str) -> None:
    for line, answers in ANSWERS[what].items():
        assert guest.ask(line) in answers, line


@in_a_container
def test_shared_memory_ends_at_its_bytes_and_its_files(lodge: Lodge) -> None:
    guest = lodge("puppet", limits=Limits(shm_bytes=64 << 10)).move_in()
    assert "no inode after 16" == guest.ask("fill-inodes /dev/shm")
    assert "no space after 65536" == guest.ask("fill /dev/shm/0")
    without = lodge("puppet", limits=Limits(shm_bytes=0)).move_in()
    assert f"open {errno.ENOENT}" == without.ask("write /dev/shm/new")


@through_pipes
def test_an_agent_has_its_own_end_of_each_pipe_only(guest: Guest) -> None:
    for line in ("write /io/in", "read /io/out", "read /io/err"):
        assert guest.ask(line) == IS_DENIED
    assert guest.ask("write /io/new") == IS_READ_ONLY
    assert guest.ask("read /io/in") == guest.ask("write /io/out") == "open 0"


@with_and_without_root
def test_an_agent_has_no_rights_and_no_network(guest: Guest) -> None:
    assert guest.ask("list /sys/class/net") == "lo "
    user = guest.ask("status Uid")
    assert int(user) in range(FIRST_AGENT_ID, FIRST_AGENT_ID + AGENT_IDS)
    assert guest.ask("status Gid") == user
    assert guest.ask("status Groups").strip() in ("", user)
    assert guest.ask("status CapEff") == guest.ask("status CapBnd") == "0" * 16
    assert guest.ask("status NoNewPrivs") == "1"
    assert guest.ask("status Seccomp") == "2"


@in_a_container
def test_address_space_ends_at_its_number_and_is_no_memory(lodge: Lodge) -> None:
    guest = lodge(limits=Limits(address_bytes=2 << 30)).move_in()
    assert guest.ask("reserve 1024") == "reserve 0"
    assert guest.ask("reserve 1024") == f"reserve {errno.ENOMEM}"
    assert lodge(limits=Limits(address_bytes=0)).move_in().ask("reserve 4194304") == "reserve 0"


@near_and_far
@pytest.mark.parametrize(
    ("words", "policy"),
    [(("puppet", "eat"), BoxPolicy()), (("puppet", "eat-file"), MANY_CALLS), (("flea",), MANY_CALLS)],
    ids=["processes", "files", "pid-1-too"],
)
def test_memory_ends_at_the_cap_and_its_end_is_not_a_lost_agent(
    lodge: Lodge, words: tuple[str, ...], policy: BoxPolicy
) -> None:
    program, *acts = words
    guest = lodge(program, limits=SMALL, policy=policy).move_in()
    for act in acts:
        guest.tell(act)
    assert guest.end() == ProcessReport("signalled", 9)
    readings = guest.box.meter.readings()
    assert readings.oom_kills
    assert SMALL.cap_bytes * 0.9 < (readings.memory_peak_bytes or 0) <= SMALL.cap_bytes == readings.memory_cap_bytes


@of(PIPES, PROCESS, evidence=(ATTACH, GROUP))
def test_box_usage_is_known_and_falls_when_memory_is_freed(lodge: Lodge) -> None:
    guest = lodge("puppet", limits=SMALL).move_in()
    used = []
    for mebibytes in (0, 16, 0):
        guest.tell(f"hold {mebibytes}")
        assert f"holds {mebibytes}" == guest.line()
        guest.freeze()
        used.append(guest.box.meter.memory_bytes() or 0)
        guest.box.thaw()

    before, most, after = used
    assert 0 < before < most - (15 << 20) < SMALL.cap_bytes
    assert after < most - (15 << 20)


@evidence
@of(PIPES, ATTACH)
@pytest.mark.parametrize("act", ["eat", "eat-file"])
def test_memory_event_reports_exhaustion_at_once(lodge: Lodge, act: str) -> None:
    guest = lodge("puppet", limits=SMALL, policy=MANY_CALLS).move_in()
    guest.tell(act)
    guest.until(lambda: Channel.OOM in guest.heard_of)


@of(PIPES, GROUP, REMOTE, evidence=[ATTACH])
def test_a_kill_of_a_child_is_reported_by_an_event_or_found_by_reading(lodge: Lodge, variant: Variant) -> None:
    guest = lodge("puppet", limits=SMALL).move_in()
    assert 0 == guest.box.unreported_kills()
    assert guest.ask("eat-in-child") == "child killed by 9"
    if variant is not REMOTE:
        is_watched = variant in (PIPES, ATTACH)
        guest.until(lambda: Channel.OOM in guest.heard_of or (not is_watched and 1 == guest.box.unreported_kills()))
        assert (Channel.OOM in guest.heard_of) is not bool(guest.box.unreported_kills())
    guest.until(lambda: bool(guest.box.meter.readings().oom_kills))  # a distant Engine hears of it a moment later
    assert guest.ask("say alive") == "alive"


@pytest.mark.parametrize(
    ("variant", "how"),
    [
        pytest.param(variant, how, id=f"{variant.name}-{how}", marks=[*variant.marks, *marks])
        for how, others in (("kill", ()), ("stop", [evidence]), ("remove", [evidence]))
        for variant, marks in ((PIPES, ()), (ATTACH, others), (GROUP, others), (REMOTE, others))
    ],
    indirect=["variant"],
)
def test_a_container_that_another_client_ends_is_removed(guest: Guest, outsider: docker.DockerClient, how: str) -> None:
    (container,) = (outsider.containers.get(name) for name in containers_of_this_process(outsider))
    {"kill": container.kill, "stop": container.stop, "remove": lambda: container.remove(force=True)}[how]()
    guest.until(lambda: len(guest.reports) > 1)
    assert guest.reports[1:] == [ProcessReport("removed")]
    guest.until(lambda: {Channel.OUT, Channel.ERR} <= set(guest.ends))
    assert guest.box.write(b"x") == -1
    guest.box.kill()
    guest.box.meter.readings()


@of(PIPES)
def test_a_container_that_ends_for_an_unknown_reason_is_lost(guest: Guest) -> None:
    """Killed by a process of the host, so that the Engine knows of no order."""
    kill_first(guest)
    guest.until(lambda: len(guest.reports) > 1)
    assert guest.reports[1:] == [ProcessReport("lost")]


@of(PIPES)
def test_a_container_that_ends_before_its_agent_ran_is_the_hosts_fault(lodge: Lodge) -> None:
    guest = lodge("puppet")
    guest.box.prepare()
    kill_first(guest)
    with pytest.raises(HostError, match="before the agent ran"):
        guest.begin()


def kill_first(guest: Guest) -> None:
    assert isinstance(guest.box, docker_box.DockerBox)
    first = guest.box._prepared.first
    assert first.kill()
    first.await_end(PATIENCE_S)


@near_and_far
def test_an_outsider_s_pause_is_known_and_the_judge_s_own_is_not_taken_for_one(
    guest: Guest, outsider: docker.DockerClient, variant: Variant
) -> None:
    (container,) = (outsider.containers.get(name) for name in containers_of_this_process(outsider))
    for _ in range(3):  # an Engine that reads its events late may report a resumed container as paused
        guest.freeze()
        assert guest.box.is_held() is False
        guest.box.thaw()
        assert guest.box.is_held() is False
    container.pause()
    assert guest.box.is_held() is True
    container.unpause()
    assert guest.box.is_held() is (variant is not REMOTE), "the Engine remembers where the judge itself never pauses"


@of(PIPES)
@pytest.mark.parametrize(
    ("hierarchy", "file", "words"),
    [(cgroup.UNIFIED, "cgroup.freeze", ("1", "0")), ("freezer", "freezer.state", ("FROZEN", "THAWED"))],
)
def test_a_container_that_others_freeze_by_its_cgroup_is_held(
    guest: Guest, outsider: docker.DockerClient, hierarchy: str, file: str, words: tuple[str, str]
) -> None:
    (name,) = containers_of_this_process(outsider)
    groups = cgroup.find_cgroups(outsider.api.inspect_container(name)["State"]["Pid"], name)
    if os.geteuid() != 0 or hierarchy not in (groups or {}):
        pytest.skip("this user or this host has no such freezer")
    assert groups
    (groups[hierarchy] / file).write_text(words[0])
    assert guest.box.is_held() is True
    (groups[hierarchy] / file).write_text(words[1])
    assert guest.box.is_held() is False


@of(PIPES, GROUP)
def test_a_box_is_made_elsewhere_and_moved_to_its_cores(lodge: Lodge) -> None:
    cores = sorted(os.sched_getaffinity(0))
    guest = lodge("puppet", cores=(cores[-1],), parking_cores=(cores[0],)).move_in()
    assert guest.ask("status Cpus_allowed_list") == str(cores[-1])


@pytest.mark.docker
def test_a_box_has_all_of_its_cores_from_an_engine_that_has_fewer(lodge: Lodge, outsider: docker.DockerClient) -> None:
    """What a pinned Engine hands down, PID 1 has got from this test."""
    if os.geteuid() != 0:
        pytest.skip("only root can say where another user's process runs")
    cores = sorted(os.sched_getaffinity(0))
    guest = lodge("puppet", cores=tuple(cores), parking_cores=(cores[0],))
    guest.box.prepare()
    (name,) = containers_of_this_process(outsider)
    os.sched_setaffinity(outsider.api.inspect_container(name)["State"]["Pid"], cores[:1])
    guest.begin()
    assert set(cores) == parse_processors(guest.ask("status Cpus_allowed_list"))


@pytest.mark.docker
def test_an_engine_that_does_not_see_the_pipes_gets_the_attach_stream(
    lodge: Lodge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Engine, "sees", lambda _, path: path.is_relative_to("/proc"))
    monkeypatch.setattr(requirements, "host_obstacle", requirements.host_obstacle.__wrapped__)
    guest = lodge("puppet", digest="one").move_in()
    assert guest.box.name == "docker-attach"
    assert guest.ask("say hello") == "hello"


@pytest.mark.docker
@pytest.mark.parametrize(
    ("staged", "transport", "why"),
    [("/nowhere", "auto", "cannot be delivered"), ("/usr/bin", "pipes", "share no kernel")],
)
def test_engine_of_another_machine_is_named(
    lodge: Lodge, monkeypatch: pytest.MonkeyPatch, staged: str, transport: str, why: str
) -> None:
    monkeypatch.setattr(cgroup, "find_cgroups", lambda pid, container: None)
    policy = BoxPolicy.model_validate({"transport": transport})
    with pytest.raises(HostError, match=why):
        lodge("puppet", staged=Path(staged), policy=policy).move_in()


@pytest.mark.docker
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_engine_that_does_not_answer_is_named(lodge: Lodge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    with pytest.raises(HostError, match="Engine"):
        lodge("puppet").move_in()
    gc.collect()  # the Engine's client leaves a socket that it could not connect


@of(ATTACH, evidence=[PIPES])
@pytest.mark.parametrize("is_killed", [True, False], ids=["killed", "closed"])
def test_agent_with_unread_output_can_be_killed_and_closed(
    guest: Guest, outsider: docker.DockerClient, is_killed: bool
) -> None:
    """The Engine ends no container before somebody has taken what it has written."""
    guest.tell("shout")
    work_for(0.3)
    if is_killed:
        guest.box.kill()
        assert guest.end() == ProcessReport("signalled", 9)
    guest.close()
    assert not containers_of_this_process(outsider)


@of(GROUP, REMOTE, evidence=(PIPES, ATTACH))
def test_box_of_an_ended_agent_is_left_at_once(guest: Guest) -> None:
    """A judge that may not signal PID 1 has the Engine do it, and does not wait for it in vain before."""
    guest.tell("leave 0")
    guest.end()
    with capture_logs() as logs:
        guest.box.leave()

    assert guest.box.is_gone()
    assert [] == [line for line in logs if line["event"].startswith("the slot stays closed")]
