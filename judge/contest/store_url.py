"""Which database on a server a contest.toml may name. The file can come from others, with its folder."""

import os
import stat
from pathlib import Path

PARAMETERS = frozenset({
    "application_name", "channel_binding", "connect_timeout", "gssencmode", "keepalives", "keepalives_count",
    "keepalives_idle", "keepalives_interval", "options", "port", "require_auth", "sslmode", "sslrootcert",
    "target_session_attrs", "tcp_user_timeout",
})  # fmt: skip
"""Of libpq. The others read passwords and keys of the user from any file, or name another host."""


def refuse_parameters(url: str) -> None:
    """Raise ValueError for a parameter that is not in `PARAMETERS`. `host` may be the directory of a socket."""
    if url.startswith("sqlite:"):
        return
    from sqlalchemy import make_url  # slow, and the same reading as when the database is opened
    from sqlalchemy.exc import ArgumentError

    try:
        query = make_url(url).query
    except ArgumentError as error:
        raise ValueError(f"store: {error}") from None
    for name, value in query.items():
        values = (value,) if isinstance(value, str) else value
        if name not in PARAMETERS and not (name == "host" and all(each.startswith("/") for each in values)):
            raise ValueError(
                f"store: remove {name}= from the URL: set it in the environment, as libpq's PGPASSFILE, PGSERVICE or "
                "PGSSLKEY, because contest.toml can come from others"
            )


def is_of_others(path: Path) -> bool:
    """Whether a file belongs to another user except root, and this user has no group that may write it."""
    user = getattr(os, "geteuid", lambda: 0)()  # Windows has no users with numbers
    try:
        found = path.stat()
    except FileNotFoundError:
        return False
    is_shared = found.st_mode & stat.S_IWGRP and found.st_gid in {os.getegid(), *os.getgroups()}
    return user not in (0, found.st_uid) and found.st_uid != 0 and not is_shared
