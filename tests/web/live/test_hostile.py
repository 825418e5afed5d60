"""Honest clients are answered while hostile ones take what they can. `./scripts/bench hostile` measures how fast."""

import asyncio
from collections.abc import Iterator

import pytest

from scripts.benchmarks.hostile import KINDS, Service, serving

SPAN_S = 2.0

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with serving(tmp_path_factory.mktemp("hostile")) as running:
        yield running


@pytest.mark.parametrize("kind", KINDS)
def test_no_page_of_an_honest_client_is_refused(kind: str, service: Service) -> None:
    times, failures, _ = asyncio.run(service.measure(KINDS[kind], SPAN_S, hostile=4, honest=3))
    assert [] == failures
    assert len(times) >= 3
