"""Honest clients are answered while hostile ones take what they can. `./scripts/bench hostile` measures how fast."""

import asyncio
from collections.abc import Iterator

import pytest

from scripts.benchmarks.hostile import KINDS, LARGE_BYTES, OLD_EVENTS, Service, serving
from tests.examples import of_evidence, sized

SPAN_S = 2.0

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    sizes = sized(1 << 20, LARGE_BYTES), sized(5000, OLD_EVENTS)
    with serving(tmp_path_factory.mktemp("hostile"), *sizes) as running:
        yield running


async def take_turns(service: Service, client: int, connection: int) -> None:
    await [*KINDS.values()][client % len(KINDS)](service, client, connection)


@pytest.mark.parametrize("kind", ["all", *of_evidence(*KINDS)])
def test_no_page_of_an_honest_client_is_refused(kind: str, service: Service) -> None:
    client, hostile = (take_turns, len(KINDS)) if kind == "all" else (KINDS[kind], 4)
    times, failures, _ = asyncio.run(service.measure(client, SPAN_S, hostile=hostile, honest=3))
    assert [] == failures
    assert len(times) >= 3
