"""Links with which authors and organisers sign in. Browsers never send the part after # to a server."""

LEAGUE_COLUMNS = ("author", "league", "link")
"""Of a table of authors' links to the leagues of a cup."""


def author_link(address: str, token: str) -> str:
    """Of an author's page. `address` has no final slash."""
    return f"{address}/author/index.html#{token}"


def organiser_link(address: str, token: str) -> str:
    """Of the organisers' pages. `address` has no final slash."""
    return f"{address}/organiser/index.html#{token}"
