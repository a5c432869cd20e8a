"""Frames as films."""

import base64
import pathlib
import shutil
import subprocess

import numpy as np

from autoqd import _native
from autoqd._errors import Error


def save(frames, path, rate):
    """Writes frames of shape (frames, height, width, 3) as a .gif or, with ffmpeg, a .mp4."""
    path = pathlib.Path(path)
    if path.suffix == ".gif":
        path.write_bytes(_native.gif(np.ascontiguousarray(frames), rate))
    elif path.suffix == ".mp4":
        _mp4(frames, path, rate)
    else:
        raise ValueError(f"save={str(path)!r}: expected a name that ends in .gif or .mp4")


def _mp4(frames, path, rate):
    if shutil.which("ffmpeg") is None:
        raise Error(f"{path}: films in MP4 need the program ffmpeg; install it, or save a .gif")
    _, height, width, _ = frames.shape
    pixels = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", str(rate), "-i", "-"]
    # Even sides, as H.264 wants them, and the pixel format that every player knows.
    film = ["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-c:v", "libx264", "-preset", "veryfast", "-crf", "20", "-pix_fmt", "yuv420p"]
    # Next to its final place, so that nobody finds half a film.
    unfinished = path.with_suffix(".part.mp4")
    command = ["ffmpeg", "-y", "-loglevel", "error", *pixels, *film, "-movflags", "+faststart", str(unfinished)]
    # As bytes: whether an array is empty, which `subprocess` asks, has no answer.
    pixels = memoryview(np.ascontiguousarray(frames)).cast("B")
    done = subprocess.run(command, input=pixels, capture_output=True)
    if done.returncode != 0:
        unfinished.unlink(missing_ok=True)
        raise Error(f"{path}: ffmpeg said: {done.stderr.decode().strip()}")
    unfinished.replace(path)


class Film:
    """Frames that a notebook shows as a film; `frames` are the pixels, `save` writes a file.

    Example:
        >>> import autoqd, tempfile
        >>> found = autoqd.run("planar-arm", iterations=3, batch_size=8, out=tempfile.mkdtemp(), progress=False)
        >>> film = found.film(seconds=0.2, size=(64, 48))
        >>> film.frames.shape[1:]
        (48, 64, 3)
    """

    def __init__(self, frames, rate):
        self.frames = frames
        self.rate = rate

    def save(self, path):
        """Writes a .gif, or a .mp4 where the program ffmpeg is installed."""
        save(self.frames, path, self.rate)

    def _repr_html_(self):
        data = base64.b64encode(_native.gif(self.frames, self.rate)).decode()
        return f"<img alt='a policy at work' src='data:image/gif;base64,{data}'>"

    def __repr__(self):
        return f"<Film of {len(self.frames)} frames>"
