"""A worker process: evaluates policies in an environment of its own and answers through a pipe.

Started by `autoqd._workers` as a program, not through multiprocessing: the main module of the user's script is not
imported again, so that scripts need no guard and notebooks work.
"""

import os
import queue
import signal
import struct
import sys
import threading

HEADER = struct.Struct("<cQ")
"""Kind of a message and the length of what follows."""


def write(stream, kind, content=b""):
    """Sends a message."""
    stream.write(HEADER.pack(kind, len(content)))
    stream.write(content)
    stream.flush()


def read(stream):
    """The next message; nothing at the end of the stream."""
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    kind, length = HEADER.unpack(header)
    content = stream.read(length)
    return (kind, content) if len(content) == length else None


def main():
    """Answers until the pipe is closed."""
    # Ctrl-C reaches the whole group of processes; the one that started the workers decides what happens.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    # What an environment prints must not get between the answers.
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    waiting = queue.SimpleQueue()
    # Requests are read as they come: a pipe that is full in both directions would hold up both sides for ever.
    threading.Thread(target=receive, args=(requests, waiting), daemon=True).start()
    answerer = None
    while (message := waiting.get()) is not None:
        kind, content = message
        try:
            if kind == b"s":
                answerer = start(content)
                write(answers, b"k")
            else:
                write(answers, b"k", answerer.answer(content))
        except BaseException as error:
            from autoqd import _gym

            write(answers, b"e", _gym.explain(error).encode())


def receive(requests, waiting):
    """Puts every message into a queue, and nothing at the end."""
    while (message := read(requests)) is not None:
        waiting.put(message)
    waiting.put(None)


def start(content):
    """The answerer of a task."""
    import cloudpickle

    paths, source, name, facts, policy = cloudpickle.loads(content)
    sys.path[:] = paths
    from autoqd import _gym, _native

    _gym.use_source(name, *cloudpickle.loads(source))
    return _native.Answerer(name, facts, policy)


if __name__ == "__main__":
    main()
