"""The set-up of `./scripts/compile`: the modules that each move uses, in a game or in a replay, compiled by mypyc.

mypyc cannot compile pydantic models. `judge.games.gomoku.board` is not compiled because mypyc does not support
bytearrays as sequences. Types that plug-ins extend are not compiled. Classes that extend a compiled class are compiled:
mypyc refuses to instantiate interpreted ones.
"""

from mypyc.build import mypycify  # with mypy, in the environment of the tests
from setuptools import setup

MODULES = (
    "games/gomoku/game",
    "games/gomoku/rules",
    "protocols/gomocup",
    "protocols/gomocup_board",
    "protocols/lines",
    "formats/gomoku/view",
    "formats/views",
    "referee/clock",
    "play/inbox",
    "play/live_wire",
    "referee/referee",
    "referee/replay",
    "referee/requests",
    "referee/side",
    "play/stopped_boxes",
    "play/wait_meter",
    "sandbox/docker/freezer",
    "sandbox/machine/cgroup",
    "sandbox/machine/pipes",
    "sandbox/process/person_box",
)

setup(ext_modules=mypycify([f"judge/{module}.py" for module in MODULES]))
