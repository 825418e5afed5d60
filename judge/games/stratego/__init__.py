"""Stratego as UCC's contests played it: rules, options, and the words for what is asked and told."""

from judge.games.stratego.game import Stratego
from judge.games.stratego.options import RULES, StrategoOptions

__all__ = ["RULES", "Stratego", "StrategoOptions"]
