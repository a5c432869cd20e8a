"""autoqd's policies in numpy, with the bits of autoqd.

A policy is a shape, as archive.parquet and descriptor.safetensors store it, and a flat vector of parameters:

    shape = json.loads(pyarrow.parquet.read_schema("archive.parquet").metadata[b"autoqd.meta.policy"])
    policy = Policy(shape, parameters)
    action = policy.act(observation)

Arithmetic is done in single precision in autoqd's order of operations.
"""
import numpy as np

LIMIT = np.float32(7.9)
P = np.array([1.0, 1.3450629e-1, 3.5790023e-3, 2.2023414e-5, 1.5428213e-8], np.float32)
Q = np.array([1.0, 4.6783957e-1, 2.6192278e-2, 3.4236672e-4, 8.598877e-7], np.float32)
NARROW, PARTIAL_SUMS, STRIDE = 16, 4, 16  # order of summation in a layer
VERSION = 1


def tanh(x):
    """autoqd's rational tanh in single precision."""
    x = np.clip(x, -LIMIT, LIMIT)
    u = x * x
    p, q = np.full_like(x, P[4]), np.full_like(x, Q[4])
    for k in (3, 2, 1, 0):
        p, q = p * u + P[k], q * u + Q[k]
    return x * p / q


ACTIVATIONS = {"tanh": tanh, "relu": lambda x: np.where(0 > x, np.float32(0), x), "none": lambda x: x}


def tanh_shape(weights, hidden, bias, observation_size, low, high):
    """The shape of a policy with tanh layers, for runs that do not store it. `bias` is all, hidden or none."""
    layers = [{"outputs": n, "weights": weights, "activation": "tanh", "bias": bias != "none"} for n in hidden]
    layers.append({"outputs": len(low), "weights": weights, "activation": "none", "bias": bias == "all"})
    return {"version": VERSION, "observation_size": observation_size, "filter": None, "layers": layers,
            "squash": "tanh", "action_low": list(low), "action_high": list(high)}


class Policy:
    """A policy ready to act."""

    def __init__(self, shape, parameters):
        if shape["version"] != VERSION:
            raise ValueError(f"policy shapes of version {shape['version']} are not known, only {VERSION}")
        self.shape, self.at = shape, 0
        self.parameters = np.asarray(parameters, np.float64)
        inputs = shape["observation_size"]
        self.filter = (self._take(inputs), self._take(inputs)) if shape["filter"] else None
        self.layers = []
        for layer in shape["layers"]:
            self.layers.append(self._layer(layer, inputs))
            inputs = layer["outputs"]
        if self.at != len(self.parameters):
            raise ValueError(f"a policy of this shape has {self.at} parameters, not {len(self.parameters)}")
        low, high = np.array(shape["action_low"], float), np.array(shape["action_high"], float)
        tanh_last = shape["squash"] == "tanh"
        self.centre = ((low + high) / 2 if tanh_last else np.zeros_like(low)).astype(np.float32)
        self.half = ((high - low) / 2 if tanh_last else np.ones_like(low)).astype(np.float32)
        self.low, self.high = low.astype(np.float32), high.astype(np.float32)

    def _take(self, n):
        """The next parameters."""
        self.at += n
        return self.parameters[self.at - n:self.at]

    def _layer(self, layer, n_in):
        """Weights (outputs x inputs), biases and activation, rounded once to single precision."""
        n_out = layer["outputs"]
        if layer["weights"] == "toeplitz":
            diagonals = self._take(n_in + n_out - 1)
            weights = diagonals[np.arange(n_out)[:, None] - np.arange(n_in)[None, :] + n_in - 1]
        else:
            weights = self._take(n_in * n_out).reshape(n_out, n_in)
        biases = self._take(n_out) if layer["bias"] else np.zeros(n_out)
        return weights.astype(np.float32), biases.astype(np.float32), ACTIVATIONS[layer["activation"]]

    def _filtered(self, observation):
        x = np.asarray(observation, np.float64)
        if self.filter is not None:
            mean, scale = self.filter
            x = (x - mean) * scale
            clip = self.shape["filter"]["clip"]
            x = x if clip is None else np.clip(x, -clip, clip)
        return x.astype(np.float32)

    def act(self, observation):
        """The action for one observation."""
        x = self._filtered(observation)
        for weights, bias, activation in self.layers:
            x = activation(sums(weights, bias, x))
        x = tanh(x) if self.shape["squash"] == "tanh" else x
        return np.clip(self.centre + self.half * x, self.low, self.high)


def sums(weights, bias, x):
    """W x + b in autoqd's order."""
    if len(bias) <= NARROW:
        partial = np.zeros((PARTIAL_SUMS, len(bias)), np.float32)
        partial[0] = bias
        for j in range(len(x)):
            partial[j % PARTIAL_SUMS] += x[j] * weights[:, j]
        return (partial[0] + partial[1]) + (partial[2] + partial[3])
    total = bias.copy()
    for first in range(STRIDE):
        for j in range(first, len(x), STRIDE):
            total = total + x[j] * weights[:, j]
    return total
