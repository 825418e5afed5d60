"""What a rating estimates and what is given to it."""

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class RatingModel(BaseModel):
    """What is estimated and what is given, in Elo."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    prior_draws: float = Field(default=2, gt=0)
    """Virtual draws an agent; the fewer, the further a score of 100 % is from the rest."""
    advantage: float | None = None
    """What sitting first is worth; None: estimated."""
    draws: Literal["rao-kupper", "davidson"] = "rao-kupper"
    """What makes a draw (`judge.statistics.draw_models`)."""
    draw_elo: float | None = Field(default=None, ge=0)
    """The draw margin of Rao and Kupper's model; None: estimated."""
    mean: float = 0
    """The mean rating of the agents of a pool."""

    @model_validator(mode="after")
    def _margin_of_its_model(self) -> Self:
        if self.draws == "davidson" and self.draw_elo is not None:
            raise ValueError("draw_elo is a margin of Rao and Kupper's model; Davidson's has none")
        return self


GOMOCUP_MODEL = RatingModel(advantage=0, draw_elo=0.01, mean=1600)
"""Gomocup's since 2017: its BayesElo has these two figures built in, and its script says `offset 1600` and `mm`."""
