"""Functions with the same bits on each machine: exact enough, and known bits."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from judge.statistics import portable_math
from judge.statistics.bradley_terry import share


@given(st.floats(-699, 699))
def test_exponential_is_exact(x: float) -> None:
    assert math.isclose(float(portable_math.exp(x)), math.exp(x), rel_tol=1e-15)


@given(st.floats(1e-300, 1e300))
def test_logarithm_is_exact(x: float) -> None:
    assert math.isclose(float(portable_math.log(x)), math.log(x), rel_tol=1e-15, abs_tol=1e-15)


@given(st.floats(-1e6, 1e6))
def test_share_is_that_of_the_draw_models(x: float) -> None:
    assert math.isclose(float(portable_math.share(x)), float(share(x)), rel_tol=1e-13, abs_tol=1e-300)


def test_inverse_is_exact_and_symmetric() -> None:
    root = np.random.default_rng(1).normal(size=(150, 150))
    matrix = root @ root.T + np.eye(150)
    matrix = (matrix + matrix.T) / 2

    inverse = portable_math.inverse(matrix)

    assert np.abs(inverse @ matrix - np.eye(150)).max() < 1e-11
    assert (inverse == inverse.T).all()


def test_bits_are_those_of_other_machines() -> None:
    """Computed once. A machine with other bits would choose other pairs than the verifier."""
    points = 0.37 * np.arange(-40, 41, dtype=np.float64)

    assert portable_math.exp(points)[[0, 17, 80]].tobytes().hex() == "3df95fd8e912993edf55ab4755672a3fb76f10876e6b4441"
    assert (
        portable_math.log(np.abs(points) + 0.1)[[0, 17, 80]].tobytes().hex()
        == "44798244639c0540d3b093623039014044798244639c0540"
    )
