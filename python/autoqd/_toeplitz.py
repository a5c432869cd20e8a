"""The paper's policy network with parameters from anywhere."""

import numpy as np

from autoqd import _native
from autoqd._mathematics import _array, _count
from autoqd._reading import Policy


def toeplitz_policy(observation_size, action_low, action_high, parameters=None, *, hidden=(128, 128)):
    """The paper's policy network: Toeplitz layers with tanh, a few hundred parameters.

    Args:
        observation_size: Length of an observation.
        action_low: Lower bound of each action.
        action_high: Upper bound of each action.
        parameters: The parameters: per layer ``W[i][j] = d[i - j + inputs - 1]``, the numbers ``d`` and then, except in the
            last layer, the biases. By default all zero.
        hidden: Sizes of the hidden layers.

    Returns:
        An :class:`autoqd.Policy`: a function from one observation, or a batch of them, to actions.

    Raises:
        ValueError: If sizes, bounds or the number of parameters do not fit.

    Example:
        >>> import autoqd, numpy
        >>> policy = autoqd.toeplitz_policy(17, [-1.0] * 6, [1.0] * 6)
        >>> len(policy.parameters)
        788
        >>> policy(numpy.ones(17))
        array([0., 0., 0., 0., 0., 0.], dtype=float32)
    """
    low, high = _array("action_low", action_low, 1).tolist(), _array("action_high", action_high, 1).tolist()
    size, hidden = _count("observation_size", observation_size), [_count("hidden", units) for units in hidden]
    count, _ = _native.toeplitz_policy(size, low, high, hidden, None)
    values = np.zeros(count) if parameters is None else _array("parameters", parameters, 1)
    if len(values) != count:
        raise ValueError(f"a policy of this shape has {count} parameters, but {len(values)} were given")
    _, native = _native.toeplitz_policy(size, low, high, hidden, values.tolist())
    return Policy._of(native, None)
