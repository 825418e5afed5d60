"""Stratego as played in UCC's contests: rules, options, requests and events."""

from judge.games.stratego.game import Stratego
from judge.games.stratego.options import RULES, StrategoOptions

__all__ = ["RULES", "Stratego", "StrategoOptions"]
