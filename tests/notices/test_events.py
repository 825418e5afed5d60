"""What authors are told of in a contest: results, the third failure in a row, and a disqualification."""

import json
import re
from contextlib import closing
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from email.policy import default
from pathlib import Path

from sqlalchemy import event

from judge.contest.entries import intake_directory
from judge.contest.plan import load_plan
from judge.notices.policy import NoticePolicy
from judge.notices.sender import NoticeSender, new_secret
from judge.store.notices import Notices
from judge.store.submissions import Register
from judge.store.types import RATED, ProcessingResult, Upload
from tests.broadcast.logs import accept, play_next
from tests.notices.test_sender import ended, mail_server
from tests.publish.cups import Cup
from tests.verify.test_ladder import joins
from tests.web.authors.desk import AUTHORS, CAST


def test_authors_are_notified_of_results_third_failures_and_disqualification(tmp_path: Path) -> None:
    numbers = {agent: number for number, agent in enumerate(AUTHORS.values(), 1)}
    form = 'name = "round-robin"\ngames = 4'
    with Cup(tmp_path, CAST, form=form, submissions=numbers) as cup:
        directory = intake_directory(load_plan(tmp_path))
        with closing(directory.register()) as register, closing(directory.notices()) as notices:
            notices.derive()
            for author, agent in AUTHORS.items():
                taken = register.receive(Upload(author, agent, "a.zip", "a" * 64, 1), worker="w")
                register.finish(taken.id, taken.attempt, ProcessingResult("", agent, None, "{}", None, None))
                notices.set_webhook(author, "https://example.org/", new_secret())

            def told(author: str) -> list[str]:
                notices.derive()
                return [each.kind for each in notices.of(author, 99) if each.kind != "test"]

            accept(cup, *play_next(cup))
            accept(cup, *play_next(cup))
            assert ["result"] * 2 == told("eve")
            accept(cup, *play_next(cup))
            assert ["failures", "result", "result", "result"] == sorted(told("eve"))
            accept(cup, *play_next(cup))
            cup.store.disqualify("spring-cup", "crasher", "it only crashes")
            assert ["disqualified", "failures", *["result"] * 4] == sorted(told("eve"))
            assert ["result"] * 4 == told("ada")
            texts = [each.text for each in notices.of("eve", 99)]
            assert any(text.startswith("game 1: crasher lost against anna: ") for text in texts)
            assert "crasher has failed by itself in 3 games in a row, last in game 3" in texts
            assert "crasher is disqualified: it only crashes" in texts
            cup.store.withdraw("spring-cup", AUTHORS["ada"], "it is ill", is_annulled=True)
            assert ["withdrawn", *["result"] * 4] == told("ada")
            assert f"{AUTHORS['ada']} withdrew: it is ill" in [each.text for each in notices.of("ada", 99)]


def test_results_by_mail_come_together_at_the_end_of_a_round_or_after_a_while(tmp_path: Path) -> None:
    numbers = {agent: number for number, agent in enumerate(AUTHORS.values(), 1)}
    with Cup(tmp_path, CAST, form='name = "round-robin"\ngames = 4', submissions=numbers) as cup:
        directory = intake_directory(load_plan(tmp_path))
        later = [timedelta()]
        notices = Notices(cup.planned.store_url, "spring-cup", lambda: datetime.now(UTC) + later[0])
        with closing(directory.register()) as register, closing(notices), mail_server() as (port, mailbox):
            notices.derive()
            for author, agent in AUTHORS.items():
                taken = register.receive(Upload(author, agent, "a.zip", "a" * 64, 1), worker="w")
                register.finish(taken.id, taken.attempt, ProcessingResult("", agent, None, "{}", None, None))
            policy = NoticePolicy(
                smtp=f"127.0.0.1:{port}", security="none", site="https://cup.example.org/", again_s=0.01
            )
            with NoticeSender(notices, "spring-cup", policy, tmp_path, tmp_path / "lock"):
                notices.set_email("ada", "ada@example.org")
                ended(notices, "ada", 1)
                accept(cup, *play_next(cup))
                accept(cup, *play_next(cup))
                notices.derive()
                waiting = [each for each in notices.of("ada", 9) if each.kind == "result"]
                assert 2 == len(waiting)
                assert [] == notices.due(digest_s=policy.digest_s)
                later[0] = timedelta(seconds=policy.digest_s + 1)
                ended(notices, "ada", 3)
                later[0] = timedelta()
                cup.play()
                notices.derive()
                ended(notices, "ada", 5)

    mails = [message_from_bytes(data, policy=default) for _, data in mailbox.mails]
    assert ["[spring-cup] 2 results"] * 2 == [mail["Subject"] for mail in mails[-2:]]
    last = "\n".join(mails[-1].get_content().splitlines())
    assert 2 == last.count(" UTC  game ")
    assert 2 == last.count("  https://cup.example.org/games/0000")
    assert "The contest: https://cup.example.org/\nYour page: https://cup.example.org/author/index.html\n" in last
    stop = mails[-1]["List-Unsubscribe"].strip("<>")
    assert re.fullmatch(r"https://cup\.example\.org/author/unsubscribe\.html\?notice=msg_[0-9a-f]{32}", stop)
    assert f"Stop mails: {stop}" in last
    assert "List-Unsubscribe=One-Click" == mails[-1]["List-Unsubscribe-Post"]


def test_author_is_notified_of_the_first_certain_rating_in_a_ladder(tmp_path: Path) -> None:
    with joins(tmp_path / "cup") as cup, closing(intake_directory(load_plan(cup.folder)).notices()) as notices:
        notices.derive()
        notices.set_webhook("eve", "https://example.org/", new_secret())
        cup.play(2)
        cup.store.remark(cup.contest.name, RATED, "zoe: 1612 Elo, standard error 74")
        cup.store.remark(cup.contest.name, RATED, "anna: 1700 Elo, standard error 70")
        notices.derive()
        (rated,) = [each for each in notices.of("eve", 99) if each.kind == RATED]
    assert rated.text == "zoe has its rating: 1612 Elo, standard error 74"
    assert json.loads(rated.body)["data"]["agent"] == "zoe"


def test_contest_in_the_same_database_holds_back_no_notices_and_causes_no_writes(tmp_path: Path) -> None:
    numbers = {agent: number for number, agent in enumerate(AUTHORS.values(), 1)}
    with Cup(tmp_path, CAST, form='name = "round-robin"\ngames = 2', submissions=numbers) as cup:
        url, later = cup.planned.store_url, [timedelta()]
        notices = Notices(url, "spring-cup", lambda: datetime.now(UTC) + later[0])
        directory = intake_directory(load_plan(tmp_path))
        with (
            closing(notices),
            closing(directory.register()) as register,
            closing(Register(url, "autumn-cup")) as other,
        ):
            notices.derive()
            for author, agent in AUTHORS.items():
                taken = register.receive(Upload(author, agent, "a.zip", "a" * 64, 1), worker="w")
                register.finish(taken.id, taken.attempt, ProcessingResult("", agent, None, "{}", None, None))
            notices.set_email("ada", "ada@example.org")
            cup.play()
            notices.derive()
            other.receive(Upload("eve", "brain", "b.zip", "b" * 64, 1))

            statements: list[str] = []
            event.listen(notices._engine, "before_cursor_execute", lambda *given: statements.append(given[2]))
            for _ in range(20):
                assert 0 == notices.derive()
            assert "BEGIN" in statements
            assert "BEGIN IMMEDIATE" not in statements
            (test,) = notices.due(digest_s=86_400)
            notices.sent(test.id)
            assert ["result"] == [each.kind for each in notices.due(digest_s=86_400)]
