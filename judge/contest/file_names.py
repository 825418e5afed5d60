"""Names of the files that describe contests and cups, and of what is in a contest's folder."""

PLAN_FILE = "contest.toml"

CUP_FILE = "cup.toml"

LOCK_FILE = "lock"

EXPORTS = "exports"
"""With `public` and `private` per export."""

PUBLISHED = "published"

LINKS = "links.txt"
"""Sign-in links with tokens; as secret as the organiser's key."""

PLAYER_DIRECTORY = "submissions/player"
"""A folder per contest: lock and status of the process that checks its submissions and plays it."""
