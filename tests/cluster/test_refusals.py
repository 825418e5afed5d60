"""A refused worker logs the reason once."""

import pytest

from judge.cluster import daemons
from judge.cluster.daemons import log_refusal


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    monkeypatch.setattr(daemons.log, "warning", lambda _event, why: found.append(why), raising=False)
    daemons._log_once.cache_clear()
    return found


def test_refusal_is_logged_once_until_its_reason_changes(logged: list[str]) -> None:
    for port in range(5):
        answer = f"{{'status': 'error', 'message': 'it calls from ::1', 'port': {port}}}"
        assert "it calls from ::1" == log_refusal(f"Unexpected response from register: {answer}")
    assert ["it calls from ::1"] == logged
    assert log_refusal("{'message': 'name taken, one', 'x'") == "name taken, one"
    assert ["it calls from ::1", "name taken, one"] == logged


def test_unreachable_scheduler_is_logged_once_and_is_no_refusal(logged: list[str]) -> None:
    for port in range(5):
        assert log_refusal(f"Timed out trying to connect to tls://10.0.0.1:{4000 + port} after 30 s") is None
    assert 1 == len(logged)
