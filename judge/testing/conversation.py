"""Conversations as text: `>` is output of the judge, `<` output of the agent, `=` an effect.

< 7,7           a line of the agent, ended by LF; `\\r`, `\\n` and `\\x..` are escapes,
                and a line that ends in `\\` has no line end
> TURN 7,7      a line that the judge must write now, and nothing else
= 7,7           the required answer; also `= ready`, `= refused TEXT`, `= unreadable TEXT`,
                `= respawn`, `= await turn`, `= note TEXT`, `= wake after 1000`,
                `= complaint ERROR TEXT` (after the answer)
"""

from collections.abc import Iterable

from judge.games.types import ReplyKind
from judge.protocols.time_control import UNLIMITED_MS
from judge.protocols.types import (
    AgentProtocol,
    Alarm,
    Answer,
    Ask,
    Await,
    Bytes,
    Clock,
    Effect,
    Note,
    Ready,
    Respawn,
    Search,
    Stimulus,
    WakeAfter,
    WakeAt,
    Write,
)


class Conversation:
    """Feeds a protocol and compares its effects with a script."""

    def __init__(self, protocol: AgentProtocol, line_end: str = "\r\n") -> None:
        """`line_end` ends the judge's lines in this protocol."""
        self._protocol = protocol
        self._line_end = line_end
        self._heard: list[str] = []
        self.clock = Clock(0, UNLIMITED_MS)
        """Time left for the agent; a request sets it."""

    def alarm(self) -> None:
        self.feed(Alarm(self.clock))

    def feed(self, stimulus: Stimulus) -> None:
        """Give the protocol a stimulus; the next `goes` compares the effects."""
        if isinstance(stimulus, Ask):
            self.clock = stimulus.clock
        self._hear(self._protocol.feed(stimulus))

    def goes(self, script: str) -> None:
        """Play the script, which must contain every effect since the last call, in order. Raises AssertionError
        otherwise.

        Effects that begin with `await`, `note`, `search`, `wake` or `complaint` may be omitted.
        """
        for line in filter(str.strip, script.splitlines()):
            mark, _, text = line.strip().partition(" ")
            if mark == "<":
                self._expect_nothing()
                self._hear(self._protocol.feed(Bytes(_bytes(text), self.clock)))
            else:
                self._expect(f"{mark} {text}".strip())
        self._expect_nothing()

    def _expect(self, wanted: str) -> None:
        while self._heard and self._heard[0] != wanted and _is_aside(self._heard[0]):
            self._heard.pop(0)
        if not self._heard:
            raise AssertionError(f"expected {wanted!r}, but there is no effect")
        found = self._heard.pop(0)
        if wanted != found:
            raise AssertionError(f"expected {wanted!r}, got {found!r}")

    def _expect_nothing(self) -> None:
        found = [text for text in self._heard if not _is_aside(text)]
        self._heard.clear()
        if found:
            raise AssertionError(f"expected nothing more, got {found!r}")

    def _hear(self, effects: Iterable[Effect]) -> None:
        for effect in effects:
            self._heard.extend(self._words(effect))

    def _words(self, effect: Effect) -> list[str]:
        match effect:
            case Write(data):
                text = data.decode()
                if not text.endswith(self._line_end):
                    raise AssertionError(f"a line without its end was written: {data!r}")
                return [f"> {line}" for line in text.removesuffix(self._line_end).split(self._line_end)]
            case Answer(reply):
                said = reply.said
                words = [f"= complaint {reply.complaint}"] if reply.complaint else []
                return [f"= {said}" if reply.kind is ReplyKind.DECIDED else f"= {reply.kind} {said}".strip(), *words]
            case Ready(about):
                said = ", ".join(f'{key}="{value}"' for key, value in about.items())
                return [f"= ready {said}".strip()]
            case Await(wait):
                return [f"= await {wait}"]
            case Note(text):
                return [f"= note {text}"]
            case Search(values):
                return ["= search " + ", ".join(f"{key}={value}" for key, value in values.items())]
            case WakeAt(before):
                return [f"= wake {before}"]
            case WakeAfter(ms):
                return [f"= wake after {ms}"]
            case Respawn():
                return ["= respawn"]


def _is_aside(text: str) -> bool:
    return text.startswith(("= await", "= note", "= search", "= wake", "= complaint"))


def _bytes(text: str) -> bytes:
    if text.endswith("\\"):
        return text[:-1].encode().decode("unicode_escape").encode("latin-1")
    return text.encode().decode("unicode_escape").encode("latin-1") + b"\n"
