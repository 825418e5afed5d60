"""Prometheus counters of a service."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime

from prometheus_client import CollectorRegistry, Counter, Histogram

BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

_AT = re.compile(rb'"at":"([0-9T:.+Z-]{19,40})"')


class Metrics:
    """Counters."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Histogram(
            "judge_http_request_seconds",
            "Seconds from a request to the beginning of its answer, by part of the service.",
            ["part"],
            registry=self.registry,
            buckets=BUCKETS_S,
        )
        self._answers = Counter(
            "judge_http_answers",
            "Answers, by part of the service and status.",
            ["part", "status"],
            registry=self.registry,
        )
        self._moves = Histogram(
            "judge_move_told_seconds",
            "Seconds from a move until it is sent to viewers.",
            registry=self.registry,
            buckets=BUCKETS_S,
        )

    def answered(self, part: str, seconds: float, status: int) -> None:
        """Count a response that began `seconds` after its request."""
        self._requests.labels(part).observe(seconds)
        self._answers.labels(part, str(status)).inc()

    def count_moves(self, lines: Iterable[bytes]) -> None:
        """Count moves among sent events."""
        for line in lines:
            if b'"type":"move"' in line and (found := _AT.search(line)):
                moment = datetime.fromisoformat(found[1].decode())
                self._moves.observe(max(0.0, (datetime.now(UTC) - moment).total_seconds()))
