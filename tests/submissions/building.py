"""Sources laid out in a folder and built in a box."""

from collections.abc import Mapping
from pathlib import Path

from judge.agents.builds import BuildTable, Sources, build_for
from judge.submissions.intake import IntakeLimits
from judge.submissions.trees import Built, TaskHost, build_tree

Files = Mapping[str, str | bytes]


def laid(folder: Path, files: Files) -> Path:
    folder.mkdir(exist_ok=True)
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def built(
    task_host: TaskHost,
    files: Files,
    limits: IntakeLimits | None = None,
    name: str = "bot",
    to: str = "built",
    **table: object,
) -> Built:
    """Build an agent called `name` in `task_host.room / to`; `table` is [build] of its agent.toml."""
    tree = laid(task_host.room / f"sent-{to}", files)
    build = build_for(Sources(tree, name, table=BuildTable.model_validate(table) if table else None))
    assert build
    return build_tree(tree, build, task_host.room / to, limits or IntakeLimits(), task_host)
