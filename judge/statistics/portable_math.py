"""Exponential, logarithm and inverse with the same bits on each machine.

They use only operations that IEEE 754 defines, in a fixed order.
"""

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]

_LARGEST = 700.0
"""Largest exponent; others are cut off."""

_LOG2_HIGH = float.fromhex("0x1.62e42fee00000p-1")
_LOG2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
"""The logarithm of 2 in two parts. Multiples of the first up to 2 ** 20 are exact."""

_ROOT_HALF = 0.7071067811865476

_BLOCK_ROWS = 64
"""Rows of a matrix that are updated at once, to stay in the processor's cache."""


def exp(x: Vector | float) -> Vector:
    """The exponential: relative error below 1e-15 for exponents from -700 to 700."""
    x = np.minimum(np.maximum(np.asarray(x, dtype=np.float64), -_LARGEST), _LARGEST)
    halves = np.rint(x / _LOG2_HIGH)
    rest = (x - halves * _LOG2_HIGH) - halves * _LOG2_LOW
    power: Vector = np.ones_like(rest)
    for divisor in range(13, 0, -1):
        power = 1.0 + rest * power / divisor
    return np.ldexp(power, halves.astype(np.int32))


def log(x: Vector | float) -> Vector:
    """The natural logarithm of positive numbers: error below 1e-15 near 1, relative elsewhere."""
    part, exponent = np.frexp(np.asarray(x, dtype=np.float64))
    is_low = part < _ROOT_HALF
    part = np.where(is_low, part * 2.0, part)
    exponent = np.where(is_low, exponent - 1, exponent).astype(np.float64)
    ratio = (part - 1.0) / (part + 1.0)
    square = ratio * ratio
    total: Vector = np.full_like(square, 1 / 21)
    for divisor in range(19, 0, -2):
        total = 1 / divisor + square * total
    return exponent * _LOG2_HIGH + (exponent * _LOG2_LOW + 2.0 * ratio * total)


def share(x: Vector | float) -> Vector:
    """The logistic function."""
    return 1.0 / (1.0 + exp(-np.asarray(x, dtype=np.float64)))


def product(matrix: Matrix, vector: Vector) -> Vector:
    """The product of a symmetric matrix and a vector. The rows are added in their order."""
    total: Vector = np.zeros(len(vector))
    for row, factor in zip(matrix, vector, strict=True):
        if factor:
            total += row * factor
    return total


def subtract_square(matrix: Matrix, vector: Vector) -> None:
    """Subtract the outer product of a vector with itself. The matrix stays symmetric to the last bit."""
    for start in range(0, len(vector), _BLOCK_ROWS):
        end = start + _BLOCK_ROWS
        matrix[start:end] -= vector[start:end, None] * vector


def inverse(matrix: Matrix) -> Matrix:
    """The inverse of a symmetric positive definite matrix, with one rank-one update per row."""
    swept = matrix.copy()
    for at in range(len(swept)):
        column = swept[at].copy()
        pivot = column[at]
        scaled = column / np.sqrt(pivot)
        subtract_square(swept, scaled)
        swept[at] = swept[:, at] = column / pivot
        swept[at, at] = -1.0 / pivot
    return -swept
