"""Parameters of a rating: estimated or given."""

from typing import Literal, Self

from pydantic import Field, model_validator

from judge.base.parsing import FrozenModel


class RatingModel(FrozenModel):
    """Parameters of a rating, in Elo."""

    prior_draws: float = Field(default=2, gt=0)
    """Virtual draws per agent; fewer move a score of 100 % further away."""
    advantage: float | None = None
    """First-move advantage; None: estimated."""
    draws: Literal["rao-kupper", "davidson"] = "rao-kupper"
    """Draw model (`judge.statistics.bradley_terry`)."""
    draw_elo: float | None = Field(default=None, ge=0)
    """Draw margin of the Rao-Kupper model; None: estimated."""
    mean: float = 0
    """Mean rating of a pool."""

    @model_validator(mode="after")
    def _margin_of_its_model(self) -> Self:
        if self.draws == "davidson" and self.draw_elo is not None:
            raise ValueError("draw_elo is the draw margin of Rao and Kupper's model: remove it for Davidson's model")
        return self


DEFAULT_MODEL = RatingModel()

BAYESELO_MODEL = RatingModel(advantage=0, draw_elo=0.01, mean=1600)
"""The model of `judge.statistics.bayeselo`."""
