"""Notices that organisers order: messages to all authors, and those that are sent now."""

from pathlib import Path

from judge.contest.entries import intake_directory
from judge.contest.plan import load_plan
from judge.notices.sender import new_secret
from judge.store.notices import MAIL, WEBHOOK, Notices
from judge.store.orders import OrganiserOrder
from judge.store.tokens import TokenRole
from judge.store.types import ProcessingResult, Upload
from tests.broadcast.logs import accept, play_next
from tests.publish.cups import Cup
from tests.web.authors.desk import AUTHORS, CAST
from tests.web.organisers.office import Office, office, submit

DAY_S = 86400
STOP = OrganiserOrder("Olga", "send", "", "they asked")


def authors_page(found: Office, path: str = "index.html") -> str:
    status, _, body = found.ask("GET", f"/author/{path}", cookie=f"judge-author={found.tokens['author']}")
    assert 200 == status
    return body.decode()


def test_waiting_results_are_due_once_an_organiser_sends_them(tmp_path: Path) -> None:
    numbers = {agent: number for number, agent in enumerate(AUTHORS.values(), 1)}
    with Cup(tmp_path, CAST, form='name = "round-robin"\ngames = 4', submissions=numbers) as cup:
        directory = intake_directory(load_plan(tmp_path))
        register, notices = directory.register(), directory.notices()
        notices.derive()
        for author, agent in AUTHORS.items():
            taken = register.receive(Upload(author, agent, "a.zip", "a" * 64, 1), worker="w")
            register.finish(taken.id, taken.attempt, ProcessingResult("", agent, None, "{}", None, None))
        notices.set_email("ada", "ada@example.org")
        (test,) = notices.due()
        notices.sent(test.id)
        for _ in range(2):
            accept(cup, *play_next(cup))
        notices.derive()
        assert [] == notices.due(digest_s=DAY_S)

        first, second = notices.send_now(order := STOP.with_id()), notices.send_now(order)

        assert "waiting notices that are sent now: 2" == first.done == second.done
        (due,) = notices.due(digest_s=DAY_S)
        assert 2 == len(notices.digest(due))
        notices.fail(due.id, None, "the server is away", 3, again_s=0)
        assert 2 == len(notices.digest(due))
        register.close()
        notices.close()


def test_message_is_on_all_authors_pages_and_sent_to_their_addresses(tmp_path: Path) -> None:
    with office(tmp_path / "cup") as found:
        notices: Notices = found.console.state.notices
        tokens = found.console.state.authors.tokens
        submit(found, "good")
        tokens.make("bob", "test")
        tokens.make("Olga", "test", TokenRole.ACT)
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
        assert "ada@example.org" == notices.targets("ada").email
        assert 422 == found.ask("POST", path, sec_fetch_site="cross-site")[0]
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
