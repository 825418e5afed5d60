"""Names in a contest's folder."""

from judge.broadcast.log import LOG_FILE

LOCK_FILE = "lock"

EXPORTS = "exports"
"""With `public` and `private` per export."""

PUBLISHED = "published"

LINKS = "links.txt"
"""Sign-in links with tokens; as secret as the organiser's key."""

PLAYER_DIRECTORY = "submissions/player"
"""A folder per contest: lock and status of the process that checks its submissions and plays it."""

DERIVED = frozenset(
    {
        LOCK_FILE,
        LOG_FILE,
        EXPORTS,
        PUBLISHED,
        PLAYER_DIRECTORY,
        "submissions/incoming",
        "practice/incoming",
    }
)
"""Left out of backups, because the judge makes them again."""
