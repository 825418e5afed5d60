"""The table of attacks: reads the rows of attacks.toml, whose head describes them."""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from judge.attacks.attack import Attack
from judge.attacks.proofs import PROOFS
from judge.attacks.scenes import SCENES

ROWS = Path(__file__).with_name("attacks.toml")


def read_rows(path: Path, functions: Mapping[str, Callable[..., Any]]) -> Iterator[dict[str, Any]]:
    """The fields of each row of a TOML file, with its `id`. Raises KeyError for a name that `functions` lacks."""
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    for group in document["group"]:
        for name, fields in group.pop("row").items():
            row = _merged(group, fields)
            if "like" in row:
                row = _merged(document["like"][row.pop("like")], row)
            for table, key in ((row, "scene"), (row.get("expected", {}), "proof")):
                if key in table:
                    table[key] = functions[table[key]]
            yield {"id": name, **row}


def _merged(base: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    result = {key: _merged(value, {}) if isinstance(value, dict) else value for key, value in base.items()}
    for key, value in more.items():
        result[key] = _merged(result.get(key, {}), value) if isinstance(value, dict) else value
    return result


def _load_attacks() -> Iterator[Attack]:
    adapter = TypeAdapter(Attack)
    for row in read_rows(ROWS, {**PROOFS, **SCENES}):
        program, *words = row.pop("run").split()
        yield adapter.validate_python({**row, "program": program, "words": words})


def _in_order(attack: Attack) -> tuple[str, int, str]:
    letter, number, variant = re.fullmatch(r"([A-Z])(\d+)(.*)", attack.id).groups()  # type: ignore[union-attr]
    return letter, int(number), variant


ATTACKS: tuple[Attack, ...] = tuple(sorted(_load_attacks(), key=_in_order))
