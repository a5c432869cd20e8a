"""Operators that make solutions from parents."""

from autoqd.ribs.emitters.operators._operators import GaussianOperator, IsoLineOperator, OperatorBase

__all__ = ["OperatorBase", "GaussianOperator", "IsoLineOperator"]

_OPERATORS = {"gaussian": GaussianOperator, "isoline": IsoLineOperator}


def _get_op(operator: str) -> type[OperatorBase]:
    """The operator of that name."""
    if not isinstance(operator, str):
        raise ValueError(f"`{operator}` is not a string")
    if operator not in _OPERATORS:
        raise ValueError(f"`{operator}` is not the name of an operator; the names are {list(_OPERATORS)}")
    return _OPERATORS[operator]
