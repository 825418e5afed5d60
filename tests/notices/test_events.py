"""What authors are notified of: results, failures, a disqualification, a rating, and messages of organisers."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from email.policy import default
from pathlib import Path

from sqlalchemy import event

from judge.contest.entries import intake_directory
from judge.contest.orders.submission_orders import Send
from judge.contest.plan import load_plan
from judge.journal.events import Rated
from judge.notices.policy import NoticePolicy
from judge.notices.sender import NoticeSender, new_secret
from judge.store.notices import MAIL, WEBHOOK, Notices
from judge.store.orders import OrganiserOrder
from judge.store.submissions import Register
from judge.store.tokens import TokenRole
from judge.store.types import ProcessingResult, Upload
from tests.broadcast.logs import accept, play_next
from tests.notices.test_sender import ended, mail_server
from tests.publish.cups import Cup
from tests.verify.test_ladder import joins
from tests.web.authors.desk import AUTHORS, CAST
from tests.web.organisers.office import Office, office, submit


@contextmanager
def notified(folder: Path, later: Sequence[timedelta] = (timedelta(),)) -> Iterator[tuple[Cup, Notices]]:
    """A contest of four games whose entries are submissions of authors, and its notices; their clock is ahead."""
    numbers = {agent: number for number, agent in enumerate(AUTHORS.values(), 1)}
    with Cup(folder, CAST, form='name = "round-robin"\ngames = 4', submissions=numbers) as cup:
        register = intake_directory(load_plan(folder)).register()
        notices = Notices(cup.planned.store_url, "spring-cup")
        notices._now = lambda: datetime.now(UTC) + later[0]
        with closing(register), closing(notices):
            notices.derive()
            for author, agent in AUTHORS.items():
                taken = register.receive(Upload(author, agent, "a.zip", "a" * 64, 1), worker="w")
                register.finish(taken.id, taken.attempt, ProcessingResult("", agent, None, "{}", None, None))
            yield cup, notices


def test_authors_are_notified_of_results_third_failures_and_disqualification(tmp_path: Path) -> None:
    with notified(tmp_path) as (cup, notices):
        for author in AUTHORS:
            notices.set_webhook(author, "https://example.org/", new_secret())

        def derive_kinds(author: str) -> list[str]:
            notices.derive()
            return [each.kind for each in notices.of(author, 99) if each.kind != "test"]

        accept(cup, *play_next(cup))
        accept(cup, *play_next(cup))
        assert ["result"] * 2 == derive_kinds("eve")
        accept(cup, *play_next(cup))
        assert ["failures", "result", "result", "result"] == sorted(derive_kinds("eve"))
        accept(cup, *play_next(cup))
        cup.store.disqualify("spring-cup", "crasher", "it only crashes")
        assert ["disqualified", "failures", *["result"] * 4] == sorted(derive_kinds("eve"))
        assert ["result"] * 4 == derive_kinds("ada")
        texts = [each.text for each in notices.of("eve", 99)]
        assert any(text.startswith("game 1: crasher lost against anna: ") for text in texts)
        assert "crasher has failed by itself in 3 games in a row, last in game 3" in texts
        assert "crasher is disqualified: it only crashes" in texts
        cup.store.withdraw("spring-cup", AUTHORS["ada"], "it is ill", is_annulled=True)
        assert ["withdrawn", *["result"] * 4] == derive_kinds("ada")
        assert f"{AUTHORS['ada']} withdrew: it is ill" in [each.text for each in notices.of("ada", 99)]


def test_results_by_mail_come_together_at_the_end_of_a_round_or_after_a_while(tmp_path: Path) -> None:
    later = [timedelta()]
    with notified(tmp_path, later) as (cup, notices), mail_server() as (port, mailbox):
        policy = NoticePolicy(smtp=f"127.0.0.1:{port}", security="none", site="https://cup.example.org/", again_s=0.01)
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
        cup.store.remark(cup.contest.name, Rated("zoe", 1612, 74))
        cup.store.remark(cup.contest.name, Rated("anna", 1700, 70))
        notices.derive()
        (rated,) = [each for each in notices.of("eve", 99) if each.kind == "rated"]
    assert rated.text == "zoe has its rating: 1612 Elo, standard error 74"
    assert json.loads(rated.body)["data"]["agent"] == "zoe"


def test_contest_in_the_same_database_holds_back_no_notices_and_causes_no_writes(tmp_path: Path) -> None:
    with notified(tmp_path) as (cup, notices), closing(Register(cup.planned.store_url, "autumn-cup")) as other:
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
        assert "result" in {each.kind for each in notices.due(digest_s=86_400)}


def test_waiting_results_are_due_once_an_organiser_sends_them(tmp_path: Path) -> None:
    with notified(tmp_path) as (cup, notices):
        notices.set_email("ada", "ada@example.org")
        (test,) = notices.due()
        notices.sent(test.id)
        for _ in range(2):
            accept(cup, *play_next(cup))
        notices.derive()
        assert [] == notices.due(digest_s=86_400)
        order = OrganiserOrder("Olga", "send", "", "they asked").with_id()

        first, second = Send(notices, order).carry_out(), Send(notices, order).carry_out()

        assert "waiting notices that are sent now: 2" == first.done == second.done
        (due,) = notices.due(digest_s=86_400)
        assert 2 == len(notices.digest(due))
        notices.try_again()
        assert [due] == notices.due(digest_s=86_400)
        for each in notices.digest(due):
            notices.fail(each.id, None, "the mail server is away", 2, again_s=0)
        assert 2 == len(notices.digest(due))
        notices.try_again()
        (due,) = notices.due(digest_s=86_400)
        for each in notices.digest(due):
            notices.fail(each.id, None, "the mail server is away", 2, again_s=0)
        assert [] == notices.due(digest_s=86_400)
        # A mail server that is repaired gets what it had refused.
        notices.try_again()
        (due,) = notices.due(digest_s=86_400)
        assert 2 == len(notices.digest(due))


def authors_page(found: Office, path: str = "index.html") -> str:
    status, _, body = found.ask("GET", f"/author/{path}", cookie=f"judge-author={found.tokens['author']}")
    assert 200 == status
    return body.decode()


def test_message_is_on_all_authors_pages_and_sent_to_their_addresses(tmp_path: Path) -> None:
    with office(tmp_path / "cup") as found:
        notices: Notices = found.console.state.notices
        tokens = found.console.state.authors.tokens
        submit(found, "good")
        tokens.make("bob", "test")
        tokens.make("Olga", "test", TokenRole.ORGANISER)
        notices.set_webhook("bob", "https://example.org/", new_secret())
        notices.set_email("ada", "ada@example.org")
        assert ["ada", "bob"] == notices.authors()
        words = "The start is <b>later</b>: at 19:00."

        done = found.order("message", why=words)

        assert "authors: 2, with an address for notices: 2" in done
        for author, channel in (("ada", MAIL), ("bob", WEBHOOK)):
            assert (channel, words) in [(each.channel, each.text) for each in notices.of(author, 9)]
        for path in ("index.html", "notices.html"):
            assert "The start is &lt;b&gt;later&lt;/b&gt;: at 19:00." in authors_page(found, path)
        page = found.page("authors.html")
        assert "<bdi>ada@example.org</bdi>" in page
        assert "No mail server is configured" in page
        assert "waiting notices that are sent now: 4" in found.order("send")


def test_link_of_a_mail_stops_further_mails_without_a_token(tmp_path: Path) -> None:
    with office(tmp_path / "cup") as found:
        notices: Notices = found.console.state.notices
        notices.set_email("ada", "ada@example.org")
        notices.set_webhook("ada", "https://example.org/", new_secret())
        mail, call = (next(each for each in notices.of("ada", 9) if each.channel == name) for name in (MAIL, WEBHOOK))
        path = f"/author/unsubscribe.html?notice={mail.id}"

        for code in ("", "/cs", "/zh"):
            assert 200 == found.ask("GET", f"{code}{path}")[0]
        assert 422 == found.ask("POST", path, sec_fetch_site="cross-site")[0]
        assert "ada@example.org" == notices.targets("ada").email
        status, _, body = found.ask("POST", path, "", b"List-Unsubscribe=One-Click")

        assert (200, True) == (status, b"You receive no more mails of this contest." in body)
        assert ("", "https://example.org/") == (notices.targets("ada").email, notices.targets("ada").webhook)
        assert 200 == found.ask("POST", path)[0]
        for unknown in (call.id, "msg_" + "0" * 32):
            status, _, body = found.ask("POST", f"/author/unsubscribe.html?notice={unknown}")
            assert (404, True) == (status, b"not valid any more" in body)
        assert 422 == found.ask("GET", "/author/unsubscribe.html?notice=x")[0]


def test_an_author_stops_mails_on_the_page_of_notices(tmp_path: Path) -> None:
    with office(tmp_path / "cup") as found:
        notices: Notices = found.console.state.notices
        notices.set_email("ada", "ada@example.org")
        assert "ada@example.org" in authors_page(found, "notices.html")

        form = {"content-type": "application/x-www-form-urlencoded", "cookie": f"judge-author={found.tokens['author']}"}
        assert 303 == found.ask("POST", "/author/notices.html", "", b"stop=1", **form)[0]

        assert "" == notices.targets("ada").email
        assert "To receive e-mail, ask the organiser." in authors_page(found, "notices.html")
