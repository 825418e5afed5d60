"""The set-up of `./scripts/compile`: the modules that each move of a game goes through, compiled by mypyc.

They are modules with types alone: what pydantic makes at run time mypyc cannot compile. `judge.games.gomoku.board` is
left out because mypyc knows no sequence of a bytearray. A class that extends a compiled class is compiled too: mypyc
refuses others when they are instantiated.
"""

from mypyc.build import mypycify  # with mypy, in the environment of the tests
from setuptools import setup

MODULES = (
    "attacks/weak_judge",
    "games/gomoku/game",
    "protocols/gomocup",
    "protocols/gomocup_board",
    "protocols/lines",
    "referee/clock",
    "referee/fault_finder",
    "referee/former",
    "referee/live_wire",
    "referee/referee",
    "referee/side",
    "referee/stopped_boxes",
    "referee/wait_meter",
    "referee/wire",
    "sandbox/docker/freezer",
    "sandbox/machine/cgroup",
    "sandbox/machine/pipes",
    "sandbox/process/person_box",
)

setup(ext_modules=mypycify([f"judge/{module}.py" for module in MODULES]))
