"""Five-in-a-row games in PGN, for rating programs (BayesElo, Ordo).

    [Event "cup"]
    [Site "?"]
    [Date "2024.05.31"]
    [Round "3"]
    [White "first"]
    [Black "second"]
    [Result "1-0"]
    [Termination "turn-time"]
    [Board "15x15"]
    [Rule "renju"]
    [OpeningStones "1"]

    1. h8 i9 2. j7 1-0

Rating programs take White as the first mover. So, as in GomocupJudge, the tag White names the player of the *black*
stones.

Lost: move times. Of a game with the moves `1. d4 d5` and without the tag Board only the result is read: GomocupJudge
writes each game so. `[Size "15"]` is read as a board. Text before the first tag, comments, annotations and variations
are skipped. The value `?` means unknown.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from textwrap import fill

from judge.base.errors import InputError
from judge.base.text import one_line, quote
from judge.base.text_files import decode_file, head_of
from judge.formats.gomoku.record import FiveRecord, Laying, Outcome, iso_date, rule_word, verdict_word
from judge.formats.sgf import has_sgf
from judge.games.gomoku.requests import square_at, square_name
from judge.games.types import Verdict

RESULTS: dict[str, Outcome] = {"1-0": "black", "0-1": "white", "1/2-1/2": "draw", "*": ""}

_DRAWS = frozenset({"1/2-1/2", "1/2", "0.5-0.5", "0,5-0,5"})

NO_DATE = "????.??.??"

_ISO_DATE = re.compile(r"^([0-9]{4})-([0-9]{2})-([0-9]{2})(?![0-9])")

COLUMNS, ROWS = 26 + 26 * 26, 99


def write_pgn(record: FiveRecord) -> bytes:
    """Concatenated games form a file. Raises InputError if the board is too large."""
    if record.width > COLUMNS or record.height > ROWS:
        raise InputError(
            f"PGN has names for {COLUMNS}x{ROWS} squares, this game is of a {record.width}x{record.height} board"
        )
    first, second = record.names or ("", "")
    date = one_line(record.date)
    result = next(text for text, outcome in RESULTS.items() if outcome == record.outcome)
    tags = {
        "Event": record.event or "?",
        "Site": "?",
        "Date": NO_DATE if date in ("", "?") else _ISO_DATE.sub(r"\1.\2.\3", date),
        "Round": record.round or "?",
        "White": first or "?",
        "Black": second or "?",
        "Result": result,
        "Termination": record.verdict,
        "Board": f"{record.width}x{record.height}" if record.has_board else "",
        "Rule": record.rule,
        "OpeningStones": str(record.opening) if record.opening else "",
    }
    escaped = {name: re.sub(r'(["\\])', r"\\\1", one_line(text) or "?") for name, text in tags.items() if text}
    head = "".join(f'[{name} "{text}"]\n' for name, text in escaped.items())
    words = []
    for number, (x, y, _) in enumerate(record.moves):
        if number % 2 == 0:
            words.append(f"{number // 2 + 1}.")
        words.append(square_name(x, y))
    text = " ".join([*words, result])
    return f"{head}\n{fill(text, 79, break_long_words=False, break_on_hyphens=False)}\n\n".encode()


@dataclass(slots=True)
class _Game:
    line: int
    tags: dict[str, tuple[int, str]] = field(default_factory=dict)
    moves: list[tuple[int, str]] = field(default_factory=list)
    end: str = ""

    def tag(self, name: str) -> str:
        text = one_line(self.tags.get(name, (0, ""))[1])
        return "" if text == "?" else text


_TOKEN = re.compile(
    r"""
    (?P<skipped> \s+ | ^%[^\n]* | ;[^\n]* | \{[^}]*\} | \$[0-9]* | [!?]+ )
    | \[ [ \t]* (?P<tag> [A-Za-z0-9_+\#=:.-]+ ) [ \t]*
      (?: "(?P<value> [^"\\\n]* (?: \\[^\n] [^"\\\n]* )* )" | "(?P<raw> [^\n]*? )" ) [ \t]* \]
    | (?P<end> (?: 1 [-\u2010-\u2015\u2212] 0 | 0 [-\u2010-\u2015\u2212] 1
      | (?: 1/2 | \u00bd | 0[.,]5 ) [-\u2010-\u2015\u2212] (?: 1/2 | \u00bd | 0[.,]5 )
      | 1/2 | \u00bd | \* ) (?![^\s({;\[]) )
    | (?P<number> [0-9]+\.* | \.+ )
    | (?P<variation> [()] )
    | (?P<move> [A-Za-z][A-Za-z0-9_+\#=:-]* )
    """,
    re.VERBOSE | re.MULTILINE,
)
_TAG = re.compile(r'^[ \t]*\[[ \t]*[A-Za-z0-9_+#=:.-]+[ \t]*"', re.MULTILINE)
_PLAYED = re.compile(r"(?:^|\s)(?:1-0|0-1|1/2-1/2|\*)(?:\s|$)")
_BOARD = re.compile(r"([1-9][0-9]{0,2})x([1-9][0-9]?)")
_SIZE = re.compile(r"[1-9][0-9]?")
_RESULT_ONLY = ("d4", "d5")
"""Moves of each game that GomocupJudge writes."""


def looks_like_pgn(data: bytes) -> bool:
    """It has a tag, perhaps after other text, but not after SGF."""
    head = head_of(data)
    tag = _TAG.search(head)
    return tag is not None and not has_sgf(head[: tag.start()])


def read_pgn(data: bytes, source: str = "pgn") -> tuple[FiveRecord, ...]:
    """Games in any encoding (`judge.base.text_files`).

    Raises InputError for text outside the format, missing tags, an unknown result, or an impossible stone.
    """
    text = decode_file(data, source)
    first = _TAG.search(text)
    if first is not None and not _PLAYED.search(preface := text[: first.start()]):
        text = "\n" * preface.count("\n") + text[first.start() :]
    games = tuple(_record(game, source) for game in _games(text, source))
    if not games:
        raise InputError(f'{source}, line 1: no game; one begins such as [Event "cup"]')
    return games


def _tokens(text: str, source: str) -> Iterator[tuple[int, re.Match[str]]]:
    line, at, depth = 1, 0, 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            before = re.search(r"\S*\Z", text[max(0, at - 40) : at])
            word = quote((before[0] if before else "") + re.split(r"\s", text[at : at + 80], maxsplit=1)[0], 60)
            asked = (
                'write a tag such as [White "a"]'
                if text[at] == "["
                else f"a game has squares, comments and one of {', '.join(RESULTS)}"
            )
            raise InputError(f"{source}, line {line}: {word} is unknown in PGN; {asked}")
        if match["variation"]:
            depth = max(0, depth + (1 if match["variation"] == "(" else -1))
        elif depth == 0 and not (match["skipped"] or match["number"]):
            yield line, match
        line += text.count("\n", at, match.end())
        at = match.end()


def _games(text: str, source: str) -> Iterator[_Game]:
    game: _Game | None = None
    for line, token in _tokens(text, source):
        tag = token["tag"]
        if game is not None and (game.end or (tag and (game.moves or tag in game.tags))):
            yield game
            game = None
        game = game or _Game(line)
        if tag:
            # Other backslashes come from unescaped paths.
            value = re.sub(r'\\(["\\])', r"\1", token["value"]) if token["raw"] is None else token["raw"]
            game.tags[tag] = (line, value)
        elif token["end"]:
            game.end = _plain_result(token["end"])
        else:
            game.moves.append((line, token["move"]))
    if game is not None:
        yield game


def _plain_result(text: str) -> str:
    plain = re.sub("[\u2010-\u2015\u2212]", "-", "".join(text.split())).replace("\u00bd", "1/2")
    return "1/2-1/2" if plain in _DRAWS else plain


def _record(game: _Game, source: str) -> FiveRecord:
    if not game.tags:
        raise InputError(f'{source}, line {game.line}: no tag before it; write such as [White "a"]')
    width, height = _board(game, source)
    if not width and game.moves and tuple(text for _, text in game.moves) != _RESULT_ONLY:
        raise InputError(
            f"{source}, line {game.moves[0][0]}: without the tag Board the moves cannot be read; "
            'write such as [Board "15x15"] before them'
        )
    laying = Laying(width, height, source, square_name)
    if width:
        for line, text in game.moves:
            try:
                x, y = square_at(text.lower())
            except ValueError:
                raise InputError(f"{source}, line {line}: {quote(text, 20)} is no square; write such as h8") from None
            laying.add(x, y, 0, line, text)
    outcome, ended = _outcome(game, source), game.tag("Termination")
    first, second, date = game.tag("White"), game.tag("Black"), game.tag("Date")
    return FiveRecord(
        width=width,
        height=height,
        moves=tuple(laying.moves),
        opening=_opening(game, len(laying.moves), source),
        rule=rule_word(game.tag("Rule")),
        names=(first or "?", second or "?") if first or second else None,
        outcome=outcome,
        verdict="" if outcome and ended == Verdict.VOID else verdict_word(ended),
        event=game.tag("Event"),
        round=game.tag("Round"),
        date="" if date == NO_DATE else iso_date(date),
    )


def _board(game: _Game, source: str) -> tuple[int, int]:
    if "Board" not in game.tags:
        side = int(game.tag("Size")) if _SIZE.fullmatch(game.tag("Size")) else 0
        return side, side
    match = _BOARD.fullmatch(game.tag("Board"))
    if match is None:
        line, text = game.tags["Board"]
        raise InputError(f"{source}, line {line}: {quote(text, 20)} is no board; write such as 15x15")
    return int(match[1]), int(match[2])


def _outcome(game: _Game, source: str) -> Outcome:
    line, text = game.tags.get("Result", (game.line, game.end or "*"))
    result = _plain_result(text)
    if result not in RESULTS:
        raise InputError(f"{source}, line {line}: {quote(text, 20)} is no result; it is one of {', '.join(RESULTS)}")
    if game.end in RESULTS and "*" not in (result, game.end) and result != game.end:
        raise InputError(f"{source}, line {line}: the tag Result is {result}, but the game ends with {game.end}")
    return RESULTS[result]


def _opening(game: _Game, moves: int, source: str) -> int:
    line, text = game.tags.get("OpeningStones", (0, "0"))
    if not re.fullmatch(r"[0-9]{1,4}", text) or (moves and int(text) > moves):
        raise InputError(f"{source}, line {line}: {quote(text, 20)} is no number of stones from 0 to {moves}")
    return int(text) if moves else 0
