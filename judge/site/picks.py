"""Chooses finished games that are worth a look."""

from collections.abc import Callable, Sequence

from judge.base.text import clock_text
from judge.contest_games import GameResult, PublishedGame
from judge.contest_view.view import ContestView
from judge.games.types import FAILURES
from judge.translations.language import Language

MIN_GAMES = 6

MIN_UPSET_ELO = 50

MIN_SWING = 0.5


def no_upset(contest: ContestView, language: Language) -> str:
    """Sentence for the list of picks; empty if it has an upset."""
    results = [game.result for game in contest.played if game.result is not None]
    if len({round(each.elo, 2) for each in contest.rated.values()}) < 2:
        return ""
    if _upset(contest, [each for each in results if each.verdict not in FAILURES]) >= MIN_UPSET_ELO:
        return ""
    if not _upset(contest, results):
        return language.gettext("No upset: in every game the higher rated agent won or drew.")
    words = language.gettext(
        "No upset: apart from failures, no agent won against one rated {elo} Elo or more above it."
    )
    return words.format(elo=MIN_UPSET_ELO)


def _upset(contest: ContestView, results: Sequence[GameResult]) -> float:
    rated, largest = contest.rated, 0.0
    for result in results:
        if result.winner is not None and rated.keys() >= set(result.agents):
            loser = result.second if result.winner == result.first else result.first
            largest = max(largest, rated[loser].elo - rated[result.winner].elo)
    return largest


def picks(contest: ContestView, language: Language) -> Sequence[tuple[str, PublishedGame]]:
    """Up to five games with their reasons, without games lost by a failure."""
    played = [game for game in contest.played if game.result is not None and game.result.verdict not in FAILURES]
    if len(played) < MIN_GAMES:
        return []
    gettext, terms = language.gettext, contest.snapshot
    clock = terms.policy.clock
    limit_ms = 0 if terms.clocks or len({*clock.controls}) > 1 or clock.controls[0].grows else clock.match_ms

    def swing(result: GameResult) -> float:
        found = contest.evaluated.get(result.number)
        return 0.0 if found is None else found.swing

    def decided(result: GameResult) -> float:
        found = contest.evaluated.get(result.number)
        return 0.0 if found is None else float(found.decided_at or 0)

    chosen: dict[int, tuple[list[str], PublishedGame]] = {}

    def choose(value: Callable[[GameResult], float], least: float, reason: Callable[[float, GameResult], str]) -> None:
        values = [(value(game.result), game, game.result) for game in played if game.result is not None]
        best, game, result = max(values, key=lambda each: each[0])
        if best >= least:
            reasons, _ = chosen.setdefault(game.number, ([], game))
            reasons.append(reason(best, result))

    def swing_text(_: float, result: GameResult) -> str:
        found = contest.evaluated[result.number]
        words = gettext("largest swing, both programs saw the lead change by move {number}")
        return words.format(number=0 if found is None else found.turned_at)

    def decided_text(move: float, _: GameResult) -> str:
        words = gettext("decided latest, both programs saw the winner ahead only from move {number} on")
        return words.format(number=round(move))

    def left_text(ms: float, _: GameResult) -> str:
        time = language.measure(clock_text(limit_ms - ms))
        return gettext("closest on the clock, {time} left").format(time=time)

    def upset_text(elo: float, _: GameResult) -> str:
        return gettext("biggest upset, by {elo} Elo").format(elo=round(elo))

    def moves_text(count: float, _: GameResult) -> str:
        return gettext("longest game, {count} moves").format(count=round(count))

    choose(lambda result: _upset(contest, [result]), MIN_UPSET_ELO, upset_text)
    choose(swing, MIN_SWING, swing_text)
    choose(decided, 1, decided_text)
    choose(lambda result: sum(result.replies), 1, moves_text)
    if limit_ms:
        choose(lambda result: max(result.charged_ms), limit_ms / 2, left_text)
    return [("; ".join(reasons), game) for reasons, game in chosen.values()]
