"""Names of the files that describe contests and cups."""

PLAN_FILE = "contest.toml"

CUP_FILE = "cup.toml"
