"""`judge schema`: the JSON schemas of what is written to be read by other programs."""

import json
from collections.abc import Mapping
from typing import Annotated

import typer
from pydantic import BaseModel

from judge.agents.agents import AgentManifest
from judge.errors import InputError
from judge.referee.policy import Policy
from judge.referee.spec import MatchRecord, MatchSpec, RecordFile

SCHEMAS: Mapping[str, type[BaseModel]] = {
    "policy": Policy,
    "spec": MatchSpec,
    "record": MatchRecord,
    "record-file": RecordFile,
    "agent": AgentManifest,
}
"""By name: a policy's TOML, a match's spec, its record, the file with record and transcript, an agent.toml."""


EXAMPLES = "Example: judge schema record > record.schema.json"


def schema(
    name: Annotated[
        str, typer.Argument(help="policy, spec, record, record-file or agent.", autocompletion=lambda: list(SCHEMAS))
    ],
) -> None:
    """Print the JSON schema of policies, specs, records or agent manifests."""
    if name not in SCHEMAS:
        raise InputError(f"there is no schema {name!r}; there are {', '.join(SCHEMAS)}")
    print(json.dumps(SCHEMAS[name].model_json_schema(), indent=2))
