"""A token is shown once, kept as a hash, and ended by the organiser."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from sqlalchemy import create_engine, text

from judge.base.errors import InputError
from judge.store.tokens import TokenRole, Tokens


@pytest.fixture
def tokens(url: str) -> Iterator[Tokens]:
    with closing(Tokens(url, "cup")) as opened:
        yield opened


def test_a_token_opens_its_contest_for_its_author_until_it_is_revoked(tokens: Tokens, url: str) -> None:
    mine, second, others = (tokens.make(author, "organiser") for author in ("ada", "ada", "bob"))
    assert ["ada", "ada", "bob"] == [tokens.author_of(token) for token in (mine, second, others)]
    with closing(Tokens(url, "other cup")) as other:
        assert tokens.author_of(other.make("ada", "organiser")) is None
    assert 2 == tokens.revoke("ada", "organiser")
    assert [None, None, "bob"] == [tokens.author_of(token) for token in (mine, second, others)]
    with pytest.raises(InputError, match="'ada' has no token"):
        tokens.revoke("ada", "organiser")


def test_nothing_in_the_database_is_a_token(tokens: Tokens, url: str) -> None:
    token = tokens.make("ada", "organiser")
    assert len(token) > 40
    engine = create_engine(url)
    with engine.connect() as connection:
        rows = connection.execute(text("SELECT * FROM tokens")).all()
    engine.dispose()
    assert len(rows) == 1
    assert token.removeprefix("judge-") not in str(rows)


@pytest.mark.parametrize("wrong", ["", "judge-", "judge-" + "A" * 43, "\ud800", "ü" * 5000])
def test_invalid_token_opens_nothing(tokens: Tokens, wrong: str) -> None:
    tokens.make("ada", "organiser")
    assert tokens.author_of(wrong) is None


@pytest.mark.parametrize("author", ["", " ada", "a\nb", "a\x1b[31m", "\u202eada", "a" * 65])
def test_an_author_has_a_name_that_can_be_shown(tokens: Tokens, author: str) -> None:
    with pytest.raises(InputError, match="printable characters"):
        tokens.make(author, "organiser")


@pytest.mark.parametrize("author", ["organiser", "Judge"])
def test_names_of_actors_in_journals_are_reserved(tokens: Tokens, author: str) -> None:
    with pytest.raises(InputError, match=f"author '{author}': the name is reserved; choose another one"):
        tokens.make(author, "Olga")
    tokens.make(author, "Olga", TokenRole.ORGANISER)
