"""Notices are looked for often: no test waits for the interval of a service."""

import pytest


@pytest.fixture(autouse=True)
def poll_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judge.notices.sender.POLL_INTERVAL_S", 0.01)
