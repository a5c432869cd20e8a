"""The mathematics alone, for policies from elsewhere: embeddings, their distances, axes of behaviour, diversity."""

import math
import operator

import numpy as np

from autoqd import _native


class Embedding:
    """Turns what a policy did into a vector psi, so that distances between vectors are differences in behaviour.

    State-action pairs pass through random Fourier features ``phi(s, a) = sqrt(2/D) cos(W [s; a] + phases)`` (Eq. 3 of the
    paper), and ``psi = (1 - gamma) sum_t gamma^t phi(s_t, a_t)``, averaged over the rollouts of a policy (Eq. 6).

    Embeddings can be compared with each other only if they come from the same object: it holds the random features and how
    observations are normalised.

    Args:
        trajectories: What observations are normalised by, in the form that :func:`autoqd.embed` takes.
        dimension: Number of features D.
        gamma: Discount factor.
        bandwidth: Width of the Gaussian kernel; by default the square root of observation size plus action size.
        sampling: ``"independent"`` features, or ``"orthogonal"`` ones, which have less variance.
        scales: Factors of the bandwidth, each for an equal share of the features.
        normalize: Whether observations are centred and divided by their standard deviation over all steps of the
            trajectories. Or a pair of arrays ``(mean, std)``.
        length_normalized: Divide by ``1 - gamma^T``, so that the vectors of short episodes are not shorter.
        seed: Seed of the features.

    Example:
        >>> import autoqd, numpy
        >>> rng = numpy.random.default_rng(0)
        >>> rollouts = [(rng.normal(size=(50, 3)), rng.uniform(-1, 1, size=(50, 2))) for _ in range(4)]
        >>> embedding = autoqd.Embedding(rollouts, dimension=64)
        >>> embedding(rollouts).shape
        (4, 64)
        >>> embedding.weights.shape, embedding.mean.shape
        ((64, 5), (3,))
    """

    def __init__(
        self,
        trajectories,
        *,
        dimension=100,
        gamma=0.999,
        bandwidth=None,
        sampling="independent",
        scales=(1.0,),
        normalize=True,
        length_normalized=False,
        seed=0,
    ):
        rollouts = [rollout for policy in _policies(trajectories) for rollout in policy]
        size, action_size = rollouts[0][0].shape[1], rollouts[0][1].shape[1]
        if sampling not in ("independent", "orthogonal"):
            raise ValueError(f"sampling = {sampling!r} is not possible; give 'independent' or 'orthogonal'")
        if normalize is True:
            _check_rollouts(rollouts, size, action_size)
            mean, std = _native.statistics([observations for observations, _ in rollouts], size)
        elif normalize is False or normalize is None:
            mean, std = np.zeros(size), np.ones(size)
        else:
            mean, std = (_array("normalize", part, 1) for part in normalize)
            if mean.shape != (size,) or std.shape != (size,):
                raise ValueError(f"normalize has the shapes {mean.shape} and {std.shape}, expected ({size},) twice")
        weights, phases = _native.sample_features(
            size + action_size,
            _count("dimension", dimension),
            None if bandwidth is None else _number("bandwidth", bandwidth),
            sampling == "orthogonal",
            [_number("scales", scale) for scale in scales],
            _count("seed", seed, 0),
        )
        self._set(weights, phases, mean, std, _number("gamma", gamma), bool(length_normalized))

    def _set(self, weights, phases, mean, std, gamma, length_normalized):
        self._parts = (weights, phases, mean, std, gamma, length_normalized)
        for array in self._parts[:4]:
            array.setflags(write=False)
        self._native = _native.Embedding(*self._parts)

    @property
    def weights(self):
        """W of the features, one row per feature; read-only."""
        return self._parts[0]

    @property
    def phases(self):
        """Phases of the features; read-only."""
        return self._parts[1]

    @property
    def mean(self):
        """What is subtracted from observations; read-only."""
        return self._parts[2]

    @property
    def std(self):
        """What observations are then divided by; an observation with a standard deviation below 1e-6 becomes 0."""
        return self._parts[3]

    @property
    def gamma(self):
        """Discount factor."""
        return self._parts[4]

    @property
    def length_normalized(self):
        """Whether vectors are divided by ``1 - gamma^T``."""
        return self._parts[5]

    @property
    def dimension(self):
        """Number of features D."""
        return len(self.phases)

    def __call__(self, trajectories):
        """psi of each policy, one row each; the argument is that of :func:`autoqd.embed`."""
        policies = _policies(trajectories)
        rollouts = [rollout for policy in policies for rollout in policy]
        size = len(self.mean)
        _check_rollouts(rollouts, size, self.weights.shape[1] - size)
        psi = self._native.psi(rollouts)
        if all(len(policy) == 1 for policy in policies):
            return psi
        ends = np.cumsum([len(policy) for policy in policies])
        return np.stack([part.mean(axis=0) for part in np.split(psi, ends[:-1])])

    def __reduce__(self):
        return _embedding_of, self._parts

    def __repr__(self):
        size = len(self.mean)
        actions = self.weights.shape[1] - size
        return f"Embedding({size} observations, {actions} actions, dimension={self.dimension}, gamma={self.gamma})"


def _embedding_of(*parts):
    embedding = Embedding.__new__(Embedding)
    embedding._set(*parts)
    return embedding


def embed(trajectories, **options):
    """Embeds policies by what they did: one row per policy, whose distances are differences in behaviour.

    Args:
        trajectories: One entry per policy: a rollout, or a list of rollouts whose vectors are averaged. A rollout is a tuple
            ``(observations, actions)`` or a dictionary with these keys; row t of the arrays is the observation before step t
            and the action taken there. Observations may have one row more, the last one, which is left out.
        **options: Those of :class:`autoqd.Embedding`. To embed further policies in the same way make an
            :class:`autoqd.Embedding` and call it.

    Returns:
        An array of shape ``(policies, dimension)``.

    Raises:
        ValueError: If shapes do not fit together or a number is not finite; the message says where.

    Example:
        >>> import autoqd, numpy
        >>> rng = numpy.random.default_rng(0)
        >>> def rollout(speed):
        ...     return speed * numpy.arange(100.0)[:, None] + rng.normal(size=(100, 1)), numpy.full((100, 1), speed)
        >>> psi = autoqd.embed([[rollout(0.1), rollout(0.1)], [rollout(0.1)], [rollout(0.9)]])
        >>> distances = autoqd.mmd(psi)
        >>> bool(distances[0, 1] < distances[0, 2])
        True
    """
    return Embedding(trajectories, **options)(trajectories)


def mmd(a, b=None):
    """The maximum mean discrepancy of policies' occupancy measures, as distances between their embeddings.

    Args:
        a: One embedding, or several as rows.
        b: The same, to compare with; by default `a` itself.

    Returns:
        A number for two single embeddings, else the distances as an array with a row per embedding of `a` and a column per
        embedding of `b`.

    Example:
        >>> import autoqd
        >>> autoqd.mmd([0.0, 0.0], [3.0, 4.0])
        5.0
        >>> autoqd.mmd([[0.0, 0.0], [3.0, 4.0]])
        array([[0., 5.],
               [5., 0.]])
    """
    a = _array("a", a, (1, 2))
    b = a if b is None else _array("b", b, (1, 2))
    if a.shape[-1] != b.shape[-1] or not a.shape[-1]:
        raise ValueError(f"embeddings of {a.shape[-1]} and of {b.shape[-1]} numbers cannot be compared")
    distances = _native.distances(np.atleast_2d(a), np.atleast_2d(b))
    if a.ndim == 1 and b.ndim == 1:
        return float(distances[0, 0])
    return distances[0] if a.ndim == 1 else distances[:, 0] if b.ndim == 1 else distances


class AffineMap:
    """What :func:`autoqd.cwpca` returns: a function from embeddings to measures, ``A psi + b``.

    Attributes:
        a: The matrix A, a row per measure.
        b: The vector b.
        mean: Mean of the embeddings, weighted.
        components: Directions of the axes, a row per measure; zeros for an axis without variation.
        scale: Factor of each axis; 0 for an axis without variation.
        offset: What is added to each scaled axis.
        variance: Variance along each axis, weighted.
        total_variance: Variance in all directions, weighted.
        explained: Share of the total variance along each axis.

    Example:
        >>> import autoqd, numpy
        >>> psi = numpy.random.default_rng(0).normal(size=(200, 10))
        >>> measures = autoqd.cwpca(psi, numpy.arange(200.0))(psi)
        >>> measures.shape
        (200, 2)
    """

    _NAMES = ("a", "b", "mean", "components", "scale", "offset", "variance", "total_variance")

    def __init__(self, *parts):
        self._native = parts[0] if len(parts) == 1 else _native.AffineMap(*parts)
        for name, part in zip(self._NAMES, self._native.parts()):
            setattr(self, name, part)
        total = self.total_variance
        self.explained = self.variance / total if total > 0 else np.zeros_like(self.variance)

    def __call__(self, embeddings):
        """The measures of one embedding, or of several as rows."""
        psi = _array("embeddings", embeddings, (1, 2))
        if psi.shape[-1] != len(self.mean):
            raise ValueError(f"embeddings of {psi.shape[-1]} numbers, expected {len(self.mean)}")
        measures = self._native.map(np.atleast_2d(psi))
        return measures[0] if psi.ndim == 1 else measures

    def __reduce__(self):
        return AffineMap, self._native.parts()

    def __repr__(self):
        explained = ", ".join(f"{share:.0%}" for share in self.explained)
        return f"AffineMap({len(self.mean)} -> {len(self.b)} measures, explaining {explained})"


def cwpca(
    embeddings, objectives=None, measures=2, *, weighted=True, quantiles=(0.05, 0.95), flat_range=1e-7, previous=None
):
    """Calibrated weighted PCA (Appendix C of the paper): the main directions in which good policies differ.

    Args:
        embeddings: One row per policy.
        objectives: One number per policy, by which it counts; by default all count the same.
        measures: Number of axes k.
        weighted: Whether objectives matter.
        quantiles: The quantiles along each axis that become -1 and 1.
        flat_range: An axis along which the embeddings lie closer than this has measure 0 for everybody.
        previous: An earlier map whose order and signs of axes are followed.

    Returns:
        The map as an :class:`autoqd.AffineMap`.

    Raises:
        ValueError: If shapes do not fit together or a number is not finite.

    Example:
        >>> import autoqd, numpy
        >>> rng = numpy.random.default_rng(1)
        >>> psi = rng.normal(size=(300, 4)) * [10.0, 3.0, 0.1, 0.1]
        >>> axes = autoqd.cwpca(psi, measures=2)
        >>> numpy.abs(axes.components).argmax(axis=1)
        array([0, 1])
        >>> numpy.quantile(axes(psi), [0.05, 0.95], axis=0).round(6)
        array([[-1., -1.],
               [ 1.,  1.]])
    """
    psi = _array("embeddings", embeddings, 2)
    values = np.zeros(len(psi)) if objectives is None else _array("objectives", objectives, 1)
    if len(values) != len(psi):
        raise ValueError(f"{len(values)} objectives for {len(psi)} embeddings; give one per embedding")
    low, high = (_number("quantiles", q) for q in quantiles)
    count = _count("measures", measures)
    found = _native.fit_cwpca(psi, values, count, bool(weighted), (low, high), _number("flat_range", flat_range))
    return AffineMap(found if previous is None else found.aligned(previous._native))


def vendi_score(embeddings=None, gamma=None, *, kernel=None, return_bounds=False):
    """The Vendi score: how many different policies a population has in effect, from 1 to its size.

    ``exp(-sum lambda ln lambda)`` over the eigenvalues of the similarity matrix divided by the number of policies.

    Args:
        embeddings: One row per policy.
        gamma: Similarities are ``exp(-gamma |x - y|^2)``. By default ``ln 2 / median |x - y|^2`` of these embeddings; then
            the score says nothing about how wide the population is. To compare populations give all the same, from
            :func:`autoqd.vendi_bandwidth`.
        kernel: ``"cosine"`` for cosines of the embeddings in place of a Gaussian, or a similarity matrix (symmetric, ones on
            the diagonal) in place of embeddings.
        return_bounds: Whether to return the score with lower and upper bounds. Above 3000 policies the score is computed
            from a low-rank factor, and the bounds are rigorous; up to there they are the score itself.

    Returns:
        The score, or the tuple ``(score, lower, upper)``.

    Raises:
        ValueError: If shapes do not fit or a number is not finite.

    Example:
        >>> import autoqd
        >>> round(autoqd.vendi_score([[0.0], [0.0], [9.0], [9.0]], gamma=1.0), 6)
        2.0
    """
    if kernel is not None and not isinstance(kernel, str):
        if embeddings is not None or gamma is not None:
            raise ValueError("give either embeddings or a similarity matrix as kernel")
        score = _native.vendi_kernel(_similarities(kernel))
        return (score, score, score) if return_bounds else score
    if embeddings is None:
        raise ValueError("give embeddings, or a similarity matrix as kernel")
    psi = _array("embeddings", embeddings, 2)
    if kernel == "cosine":
        score = _native.vendi_cosine(psi)
        return (score, score, score) if return_bounds else score
    if kernel not in (None, "gaussian"):
        raise ValueError(f"kernel = {kernel!r} is not possible; give 'gaussian', 'cosine' or a matrix")
    gamma = vendi_bandwidth(psi) if gamma is None else _number("gamma", gamma)
    if gamma < 0:
        raise ValueError(f"gamma = {gamma} is not possible; give a positive number")
    score = _native.vendi(psi, gamma)
    return score if return_bounds else score[0]


def vendi_bandwidth(*populations, seed=0):
    """The gamma of :func:`autoqd.vendi_score` that several populations share: the median pair has similarity 1/2.

    Args:
        *populations: Embeddings, one row per policy. Each population counts the same, however large it is.
        seed: Seed of the sample of a thousand policies from which the median is taken.

    Returns:
        gamma; 1.0 if no two embeddings differ, where any gives the same scores.

    Example:
        >>> import autoqd, math
        >>> autoqd.vendi_bandwidth([[0.0], [1.0], [3.0]]) == math.log(2) / 4
        True
    """
    arrays = [_array(f"population {i}", population, 2) for i, population in enumerate(populations)]
    if len({array.shape[1] for array in arrays}) > 1:
        raise ValueError(f"populations have embeddings of {', '.join(str(a.shape[1]) for a in arrays)} numbers")
    found = _native.vendi_bandwidth(arrays, _count("seed", seed, 0))
    return 1.0 if found is None else found


def _policies(trajectories):
    """Per policy, its rollouts as pairs of arrays."""
    if isinstance(trajectories, (tuple, dict)) or not hasattr(trajectories, "__iter__"):
        raise TypeError("trajectories must be a list with a rollout, or a list of rollouts, per policy")
    policies = []
    for i, policy in enumerate(trajectories):
        if isinstance(policy, (tuple, dict)):
            policies.append([_rollout(f"trajectories[{i}]", policy)])
        elif isinstance(policy, list) and policy:
            policies.append([_rollout(f"trajectories[{i}][{j}]", rollout) for j, rollout in enumerate(policy)])
        else:
            raise TypeError(
                f"trajectories[{i}] is neither a rollout, a tuple (observations, actions), nor a list of rollouts"
            )
    if not policies:
        raise ValueError("there are no trajectories")
    return policies


def _rollout(where, rollout):
    if isinstance(rollout, dict):
        if not {"observations", "actions"} <= rollout.keys():
            raise ValueError(f"{where} has the keys {sorted(rollout)}, expected 'observations' and 'actions'")
        rollout = (rollout["observations"], rollout["actions"])
    if not isinstance(rollout, tuple) or len(rollout) != 2:
        raise TypeError(f"{where} is not a tuple (observations, actions)")
    observations = _array(f"the observations of {where}", rollout[0], 2)
    actions = _array(f"the actions of {where}", rollout[1], 2, np.float32)
    steps = len(actions)
    if observations.shape[1] == 0 or actions.shape[1] == 0:
        raise ValueError(f"{where} has {observations.shape[1]} numbers per observation and {actions.shape[1]} per action")
    if steps == 0 or len(observations) not in (steps, steps + 1):
        raise ValueError(f"{where} has {len(observations)} observations and {steps} actions; give as many of both")
    return observations[:steps], actions


def _check_rollouts(rollouts, size, action_size):
    for i, (observations, actions) in enumerate(rollouts):
        found = (observations.shape[1], actions.shape[1])
        if found != (size, action_size):
            raise ValueError(
                f"rollout {i} has {found[0]} numbers per observation and {found[1]} per action, expected {size} and {action_size}"
            )


def _array(name, values, dimensions, dtype=np.float64):
    """The values as a contiguous array, if they are finite real numbers in the right number of dimensions."""
    dimensions = dimensions if isinstance(dimensions, tuple) else (dimensions,)
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name}: not an array of numbers: {error}") from None
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name}: expected real numbers, not {array.dtype}")
    if array.ndim not in dimensions:
        expected = " or ".join(map(str, dimensions))
        raise ValueError(f"{name}: an array of shape {array.shape}, expected {expected} dimension(s)")
    array = np.require(array, dtype, ["C", "A"])
    finite = np.isfinite(array)
    if not finite.all():
        place = tuple(int(i) for i in np.argwhere(~finite)[0])
        raise ValueError(f"{name}: the number at {place} is {array[place]}; all must be finite")
    return array


def _similarities(kernel):
    matrix = _array("kernel", kernel, 2)
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"kernel: an array of shape {matrix.shape} is not square")
    if not np.allclose(np.diag(matrix), 1.0) or not np.allclose(matrix, matrix.T):
        raise ValueError("kernel: a similarity matrix is symmetric with ones on the diagonal")
    return matrix


def _number(name, value):
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} = {value!r} is not a number") from None
    if not math.isfinite(number):
        raise ValueError(f"{name} = {number} is not finite")
    return number


def _count(name, value, least=1):
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} = {value!r} is not an integer") from None
    if not least <= number < 2**63:
        raise ValueError(f"{name} = {number} is not possible; give an integer of at least {least}")
    return number
