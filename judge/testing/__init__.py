"""Helpers for tests of games and protocols: conversations as text, and whole games without processes or waiting.

Test a protocol line by line, by its output and its interpretation of answers:

>>> from judge.games.quantum_chess.words import Selection
>>> from judge.protocols import new_protocol
>>> from judge.protocols.time_control import UNLIMITED_MS, TimeControl
>>> from judge.protocols.types import Ask, Clock, SeatLimits, Open
>>> from judge.testing import Conversation
>>> conversation = Conversation(new_protocol("qchess", {}), line_end="\\n")
>>> conversation.feed(Open(0, {"variant": "quantum"}, ("one", "two"), SeatLimits(TimeControl(turn_ms=4000), 0)))
>>> conversation.goes('''
...     > white
...     = ready
... ''')
>>> conversation.feed(Ask(Selection(0), Clock(4000, UNLIMITED_MS)))
>>> conversation.goes('''
...     > SELECTION?
...     < 4 6
...     = 4 6
... ''')

Test a game with scripted agents: functions from a received line to acts. The clock is simulated, so a game takes
milliseconds:

>>> from judge.record.policy import load_policy
>>> from judge.record.spec import GameSpec
>>> from judge.testing import Say, ScriptedGame, World, exits, scripted_seats
>>> def waits(line):
...     return [Say(b"OK\\r\\n")] if line.startswith("START") else []
>>> def leaves(line):
...     return exits(3) if line.startswith("START") else []
>>> spec = GameSpec(seats=scripted_seats("gomocup"), policy=load_policy("gomocup-freestyle"))
>>> game = ScriptedGame(World(leaves, waits), spec)
>>> game.verdict.value, game.winner, game.end.reason
('crash', 1, 'exited with code 3 before the game was over')

The judge itself does not import this package.
"""

from judge.testing.conversation import Conversation
from judge.testing.world import MS, Act, Agent, Body, Do, Say, ScriptedGame, World, dies, exits, scripted_seats

__all__ = [
    "MS",
    "Act",
    "Agent",
    "Body",
    "Conversation",
    "Do",
    "Say",
    "ScriptedGame",
    "World",
    "dies",
    "exits",
    "scripted_seats",
]
