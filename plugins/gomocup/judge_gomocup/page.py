"""A rating list as one HTML file, with its style and script inside: of many years, or of one contest."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from judge.base.errors import InputError
from judge.contest_view.view import ContestView
from judge.site.pages import GAMES, STYLE, PagePlace, asset, picture, render
from judge_gomocup.rating_lists import ListRow, contest_list, family


def rating_list_page(name: str, rows: Sequence[ListRow]) -> bytes:
    """Render the list `name`. `rows` are in its order, best first."""
    best = {family(row.version): row for row in rows if row.rank is not None}
    folded: dict[str, list[ListRow]] = {}
    others = [row for row in rows if row.rank is None]
    for row in others:
        folded.setdefault(family(row.version), []).append(row)
    style, script = asset(STYLE), asset(GAMES)
    values: Mapping[str, Any] = {
        "name": name,
        "ranked": [(row, folded.get(family(row.version), ())) for row in rows if row.rank is not None],
        "others": [(row, _reason(row, best.get(family(row.version)))) for row in others],
        "first_year": min((row.first_year for row in rows), default=0),
        "last_year": max((row.last_year for row in rows), default=0),
        "policy": f"default-src 'none'; style-src {_source(style)}; script-src {_source(script)}; img-src data:; "
        "base-uri 'none'; form-action 'none'",
        "style": picture(style.decode()),
        "code": picture(script.decode()),
    }
    return render("rating_list.html", PagePlace("list.html"), values, package=__package__)


def contest_page(contest: ContestView) -> bytes:
    """Render the list of a contest's agents. Raises InputError without results."""
    rows = contest_list(contest.counted, int(contest.snapshot.frozen_at[:4]))
    if not rows:
        raise InputError(f"{contest.name}: no game counts, so there is no rating list")
    return rating_list_page(contest.snapshot.shown_name, rows)


def _reason(row: ListRow, best: ListRow | None) -> str:
    if best is not None:
        return f"folded into {best.shown}"
    return "too few games" if row.is_active else "not active"


def _source(text: bytes) -> str:
    return f"'sha256-{b64encode(sha256(text).digest()).decode()}'"
