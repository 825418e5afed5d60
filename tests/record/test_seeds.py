"""Numbers from a seed: the old ones of a number, those of a key as the module says how anybody computes them."""

import hashlib
import hmac
import random
from collections import Counter

import pytest
from pydantic import TypeAdapter, ValidationError

from judge.games.types import NATURE, Chance, Drawn, decided
from judge.record.seeds import Seed, derived, numbers
from judge.referee.setup import chance_from_seed

KEY = hashlib.sha256(b"a key").hexdigest()


def test_the_numbers_of_a_number_are_those_that_old_records_have() -> None:
    """What stands in records since the first contest: Python's generator, from the number or from words behind it."""
    assert random.Random(7).random() == numbers(7).random()
    assert random.Random("7 swiss").random() == numbers(7, "swiss").random()
    assert random.Random("7 3").random() == numbers(7, 3).random()


def test_a_key_of_a_purpose_is_an_hmac_of_its_json_and_of_no_other_purpose() -> None:
    expected = hmac.new(bytes.fromhex(KEY), b'["game",1,2,0,1]', hashlib.sha256).hexdigest()
    purposes: list[tuple[str | int, ...]] = [("game", 1, 11), ("game", 11, 1), ("game", "1", 11), ("game 1", 11)]

    assert expected == derived(KEY, "game", 1, 2, 0, 1)
    assert len(purposes) == len({derived(KEY, *purpose) for purpose in purposes})


def test_the_bits_of_a_key_are_its_hmacs_of_counts() -> None:
    blocks = b"".join(
        hmac.new(bytes.fromhex(KEY), count.to_bytes(8, "big"), hashlib.sha256).digest() for count in range(3)
    )
    drawn = numbers(KEY)

    assert int.from_bytes(blocks[:40], "big") == drawn.getrandbits(320)
    assert blocks[40] >> 5 == drawn.getrandbits(3)
    assert int.from_bytes(blocks[41:43], "big") >> 3 == drawn.getrandbits(13)


def test_a_number_below_six_is_of_three_bits_and_drawn_until_it_is_below() -> None:
    bits, drawn = numbers(KEY), numbers(KEY)
    expected = [bit for bit in (bits.getrandbits(3) for _ in range(200)) if bit < 6]

    assert expected == [drawn.randrange(6) for _ in expected]


def test_every_outcome_is_as_likely() -> None:
    """60,000 throws: each of six has 10,000, give or take 5 standard deviations."""
    drawn = numbers(KEY, "dice")
    counts = Counter(drawn.randrange(6) for _ in range(60_000))

    assert {0, 1, 2, 3, 4, 5} == counts.keys()
    assert all(abs(count - 10_000) < 460 for count in counts.values())


def test_a_shuffle_is_the_same_again_and_another_for_another_purpose() -> None:
    def order(*purpose: str | int) -> list[int]:
        found = list(range(30))
        numbers(KEY, *purpose).shuffle(found)
        return found

    assert order(0) == order(0)
    assert order(0) != order(1)
    assert list(range(30)) == sorted(order(0))


def test_nature_answers_from_a_key() -> None:
    coin = Chance(seat=NATURE, outcomes=2)
    tossed, again = ([chance_from_seed(KEY)(coin) for _ in range(20)] for _ in range(2))

    expected = numbers(KEY)
    assert [decided(Drawn(expected.randrange(2)))] * 20 == tossed == again


def test_a_key_has_no_state_to_be_taken() -> None:
    with pytest.raises(NotImplementedError):
        numbers(KEY).getstate()
    with pytest.raises(NotImplementedError):
        numbers(KEY).setstate(())


@pytest.mark.parametrize("text", ['"5c"', f'"{KEY.upper()}"', f'"{KEY}0"', "1.5", "null"])
def test_a_seed_is_a_number_or_256_bits(text: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter[Seed](Seed).validate_json(text)


@pytest.mark.parametrize("seed", [0, 2**53 - 1, KEY, "1" * 64])
def test_a_seed_survives_json(seed: Seed) -> None:
    adapter = TypeAdapter[Seed](Seed)

    again = adapter.validate_json(adapter.dump_json(seed))
    assert (type(seed), seed) == (type(again), again)
