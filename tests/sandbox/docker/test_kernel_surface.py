"""What an agent reaches of the kernel beside system calls, and honest programs that reach much of it: real boxes."""

import subprocess
import textwrap
from io import BytesIO
from pathlib import Path

import pytest

from judge.host.build_images import build_images
from judge.sandbox.box import BoxPolicy, Limits
from judge.sandbox.docker.hardening import MASKED
from judge.sandbox.docker.run_in_box import Command, run_in_box

MAX_USER_WATCHES = Path("/proc/sys/fs/epoll/max_user_watches")
PATIENCE_S = 120.0
OUTPUT_BYTES = 1 << 20

PROGRAMS = Path(__file__).parents[1] / "agents" / "surface"
"""Honest programs that reach much of the kernel."""

pytestmark = pytest.mark.docker


@pytest.fixture(autouse=True)
def images() -> None:
    """The image that the scripts of this file run in."""
    build_images(["python"])


def run(tmp_path: Path, script: str, *words: str, image: str = "python", name: str = "main.py") -> str:
    """Run a script in a box and return what it printed; it has to exit with 0."""
    tmp_path.chmod(0o755)
    (tmp_path / name).write_text(textwrap.dedent(script), encoding="ascii")
    output = BytesIO()
    command = words or ("/usr/bin/python3", f"/agent/{name}")
    limits = Limits(shm_bytes=1 << 20)
    ordered = Command("surface", tmp_path, command, image, limits, PATIENCE_S, OUTPUT_BYTES, OUTPUT_BYTES)
    result = run_in_box(ordered, BoxPolicy(), output)
    assert result.is_success, f"{result.report}, {result.stderr}"
    return output.getvalue().decode()


def test_nothing_in_proc_can_be_written(tmp_path: Path) -> None:
    script = """
        import errno, os
        for name in ("oom_score_adj", "clear_refs", "coredump_filter", "comm", "timerslack_ns", "autogroup"):
            try:
                os.open(f"/proc/self/{name}", os.O_WRONLY)
                print(name)
            except OSError as error:
                if error.errno not in (errno.EROFS, errno.ENOENT, errno.EACCES):
                    print(name, error)
    """
    assert "" == run(tmp_path, script)


def test_masked_files_are_empty_or_closed(tmp_path: Path) -> None:
    script = f"""
        import contextlib, os
        for path in {MASKED!r}:
            if os.path.isdir(path):
                assert not os.listdir(path), path
            elif os.path.exists(path):
                with contextlib.suppress(PermissionError), open(path, "rb") as file:  # AppArmor closes some
                    assert not file.read(1), path
            if os.path.exists(path):
                print(path)
    """
    found = run(tmp_path, script).split()
    assert {"/proc/locks", "/sys/kernel"} <= set(found)


def test_an_agent_has_the_limits_that_pid_1_and_the_engine_set(tmp_path: Path) -> None:
    script = """
        import resource
        for name in ("NOFILE", "SIGPENDING", "MSGQUEUE", "MEMLOCK"):
            print(*resource.getrlimit(getattr(resource, f"RLIMIT_{name}")))
        for process in ("1", "self"):
            print(open(f"/proc/{process}/oom_score_adj").read().strip())
    """
    assert ["128 128", "64 64", "0 0", "0 0", "1000", "1000"] == run(tmp_path, script).splitlines()


@pytest.mark.skipif(
    not MAX_USER_WATCHES.exists() or int(MAX_USER_WATCHES.read_text()) > 16384,
    reason="fs.epoll.max_user_watches is too large here for a bound, which judge doctor reports",
)
def test_an_agent_has_256_epoll_watches_in_all_its_processes(tmp_path: Path) -> None:
    script = """
        import errno, os, select
        ours, theirs = os.pipe()
        made, epolls = 0, []
        files = [os.dup(ours) for _ in range(60)]
        def watch():
            global made
            epoll = select.epoll()
            epolls.append(epoll)
            for file in files:
                try:
                    epoll.register(file)
                    made += 1
                except OSError as error:
                    assert errno.ENOSPC == error.errno
                    return False
            return True
        while watch():
            pass
        if os.fork() == 0:
            child = select.epoll()
            try:
                child.register(theirs, select.EPOLLOUT)
                os._exit(1)
            except OSError as error:
                os._exit(error.errno != errno.ENOSPC)
        print(made, os.wait()[1])
    """
    assert ["256", "0"] == run(tmp_path, script).split()


def test_sqlite_keeps_a_book_with_each_journal(tmp_path: Path) -> None:
    """Two connections of one process take turns; after a new start the rows are there."""
    journals = ("delete", "truncate", "persist", "wal", "memory")
    script = """
        import sqlite3, sys
        def keep(journal):
            def connect():
                return sqlite3.connect(f"/home/agent/{journal}.db", timeout=0.05, isolation_level=None)
            first, second = connect(), connect()
            print(first.execute("pragma journal_mode=" + journal).fetchone()[0])
            first.execute("create table moves (move integer)")
            first.execute("begin immediate")
            first.execute("insert into moves values (1)")
            try:
                second.execute("begin immediate")
            except sqlite3.OperationalError as error:
                print(error)
            first.execute("commit")
            second.execute("insert into moves values (2)")
            first.close()
            second.close()
            third = connect()
            print(third.execute("select sum(move) from moves").fetchone()[0])
            print(third.execute("pragma integrity_check").fetchone()[0])
        for journal in sys.argv[1:]:
            keep(journal)
    """
    words = ("/usr/bin/python3", "/agent/main.py", *journals)
    expected = [line for journal in journals for line in (journal, "database is locked", "3", "ok")]
    assert expected == run(tmp_path, script, *words).splitlines()


def test_python_uses_processes_pipes_sockets_and_timers(tmp_path: Path) -> None:
    script = """
        import asyncio, fcntl, multiprocessing, os, select, signal, socket, subprocess, threading, time

        def square(number):
            return number * number

        async def echo():
            async def serve(reader, writer):
                writer.write(await reader.readline())
                await writer.drain()
                writer.close()
            server = await asyncio.start_unix_server(serve, "/tmp/socket")
            reader, writer = await asyncio.open_unix_connection("/tmp/socket")
            writer.write(b"line\\n")
            await asyncio.sleep(0.001)
            print((await reader.readline()).decode().strip())
            server.close()
            child = await asyncio.create_subprocess_exec("cat", stdin=-1, stdout=-1)
            print((await child.communicate(b"through cat"))[0].decode())

        if __name__ == "__main__":
            asyncio.run(echo())
            with multiprocessing.Pool(2) as pool:
                print(sum(pool.map(square, range(10))))
            ours, theirs = multiprocessing.Pipe()
            process = multiprocessing.Process(target=theirs.send, args=("sent",))
            process.start()
            print(ours.recv())
            process.join()
            queue = multiprocessing.Queue()
            queue.put("queued")
            print(queue.get())
            a, b = socket.socketpair()
            a.settimeout(1)
            a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
            b.sendall(b"pair")
            print(a.recv(9).decode())
            print(subprocess.run(["sh", "-c", "echo $((6*7)) | cat"], capture_output=True, text=True).stdout.strip())
            rung = threading.Event()
            signal.signal(signal.SIGALRM, lambda *_: rung.set())
            signal.setitimer(signal.ITIMER_REAL, 0.001)
            while not rung.is_set():
                time.sleep(0.001)
            with open("/home/agent/file", "w") as file:
                fcntl.lockf(file, fcntl.LOCK_EX)
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            print("done")
    """
    expected = ["line", "through cat", "285", "sent", "queued", "pair", "42", "done"]
    assert expected == run(tmp_path, script).splitlines()


def test_node_uses_sockets_workers_children_and_timers(tmp_path: Path) -> None:
    build_images(["node"])
    script = (PROGRAMS / "main.js").read_text(encoding="ascii")
    words = ("/usr/bin/node", "/agent/main.js")
    printed = run(tmp_path, script, *words, image="node", name="main.js")
    assert ["echo", "worker", "child", "timer"] == printed.splitlines()


def test_java_uses_selectors_locks_children_and_timers(tmp_path: Path) -> None:
    build_images(["java"])
    source = PROGRAMS / "Main.java"
    subprocess.run(["javac", "--release", "17", "-d", tmp_path, source], check=True, capture_output=True)
    command = ("/usr/bin/java", "-cp", "/agent", "Main")
    expected = ["selected 1", "read 5", "piped 1", "scheduled 7", "locked true", "child", "heap true"]
    assert expected == run(tmp_path, "", *command, image="java", name="none").splitlines()
