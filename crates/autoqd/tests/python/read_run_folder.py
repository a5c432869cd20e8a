"""Reads the files of a run folder with the usual Python packages and checks what the test wrote into them."""

import csv
import json
import pathlib
import sys

import numpy as np
import pyarrow
import pyarrow.parquet as pq
from safetensors import safe_open
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

run = pathlib.Path(sys.argv[1])

table = pq.read_table(run / "archive.parquet")
rows = 20
assert table.num_rows == rows


def array(column):
    column = column.combine_chunks()
    if pyarrow.types.is_list(column.type):
        return column.flatten().to_numpy().reshape(rows, -1)
    return column.to_numpy()


columns = {name: array(table[name]) for name in table.column_names}
assert list(columns)[:8] == ["cell", "id", "iteration", "objective"] + [f"measures_{i}" for i in range(4)]
assert columns["parameters"].shape == (rows, 301) and columns["features"].shape == (rows, 100)
assert columns["seeds"].dtype == np.uint64 and columns["seeds"].shape == (rows, 5)
assert columns["id"][0] == 2**64 - 1
np.testing.assert_allclose(columns["parameters"].ravel(), np.sin(np.arange(rows * 301) * 0.7), atol=1e-12)
metadata = {k.decode(): v.decode() for k, v in table.schema.metadata.items()}
assert metadata["autoqd.meta.task"] == "swimmer" and metadata["autoqd.version"] == "2"

arrays = np.load(run / "archive.npz")
assert sorted(arrays.files) == sorted([*columns, "metadata"])
assert json.loads(str(arrays["metadata"]))["task"] == "swimmer"
for name, values in columns.items():
    assert arrays[name].dtype == values.dtype and np.array_equal(arrays[name], values), name

with safe_open(run / "archive.safetensors", framework="numpy") as file:
    for name, values in columns.items():
        assert np.array_equal(file.get_tensor(name), values), name

with open(run / "archive.csv", newline="") as file:
    lines = list(csv.DictReader(file))
assert len(lines) == rows
assert [float(lines[7][f"parameters_{i}"]) for i in range(301)] == list(columns["parameters"][7])
assert int(lines[7]["id"]) == columns["id"][7]

with safe_open(run / "descriptor.safetensors", framework="numpy") as file:
    assert file.get_tensor("weights").dtype == np.float32 and file.get_tensor("weights")[1, 1] == -4
    assert file.get_tensor("count")[0] == 2**64 - 1
    assert json.loads(file.metadata()["autoqd"])["metadata"] == {"task": "swimmer", "gamma": 0.999}

events = list(EventFileLoader(str(run / "events.out.tfevents.autoqd")).Load())
assert events[0].file_version == "brain.Event:2"
assert [e.step for e in events[1:]] == [1, 2, 3]
for event in events[1:]:
    values = {v.tag: (v.tensor.float_val[0] if v.tensor.float_val else v.simple_value) for v in event.summary.value}
    assert values["search/coverage"] == 0.25 * event.step, values
