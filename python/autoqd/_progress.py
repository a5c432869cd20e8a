"""Progress of a run: a line in the terminal, a bar in a notebook, plain lines in a file."""

import html
import sys
import time

LINE_SECONDS = 10.0
"""Plain lines come no more often than this."""
DRAW_SECONDS = 0.1
"""A line or bar is drawn no more often than this."""


def make(stream=None):
    """The progress that suits where the output goes."""
    stream = stream or sys.stderr
    if _in_notebook():
        return _Notebook()
    return _Terminal(stream) if stream.isatty() else _Lines(stream)


def _in_notebook():
    """Whether this is a Jupyter kernel; IPython is not imported for the question."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


def _duration(seconds):
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def _number(value):
    return "-" if value is None else f"{value:.4g}"


class _Progress:
    """What all forms share: the text, and how often it is shown."""

    pause = DRAW_SECONDS

    def __init__(self):
        self._begun = self._shown = time.monotonic()
        self._first = 0
        self._last = None

    def __call__(self, event, facts):
        """Hears of an event of the run."""
        if event == "start":
            self._begun = time.monotonic()
            self._first = facts["iteration"]
            self._shown = 0.0
        elif event == "notice":
            self.note(facts["text"])
        elif event == "iteration":
            self._last = facts
            now = time.monotonic()
            if now - self._shown >= self.pause:
                self._shown = now
                self.show(facts)

    def close(self):
        """Shows the end."""
        if self._last is not None:
            self.show(self._last)

    def text(self, facts):
        """One line about where the run is."""
        done, of = facts["iteration"], facts["iterations"]
        elapsed = time.monotonic() - self._begun
        rate = (done - self._first) / elapsed if elapsed > 0 else 0.0
        left = _duration((of - done) / rate) if rate > 0 else "?"
        coverage = facts.get("coverage")
        share = f" ({100 * coverage:.1f} %)" if coverage is not None else ""
        return (
            f"{done}/{of} [{_duration(elapsed)}<{left}] {facts['elites']} elites{share}, "
            f"best {_number(facts.get('best_objective'))}, QD score {_number(facts.get('qd_score'))}, "
            f"{facts.get('env_steps_per_second', 0.0) / 1000:.0f}k steps/s"
        )


class _Terminal(_Progress):
    """One line that is written over."""

    def __init__(self, stream):
        super().__init__()
        self._stream = stream

    def show(self, facts):
        share = facts["iteration"] / max(facts["iterations"], 1)
        filled = int(20 * share)
        self._stream.write(f"\r\x1b[2K{100 * share:3.0f}% |{'█' * filled}{' ' * (20 - filled)}| {self.text(facts)}")
        self._stream.flush()

    def note(self, text):
        self._stream.write(f"\r\x1b[2K{text}\n")

    def close(self):
        super().close()
        if self._last is not None:
            self._stream.write("\n")
            self._stream.flush()


class _Lines(_Progress):
    """A line now and then, for log files."""

    pause = LINE_SECONDS

    def __init__(self, stream):
        super().__init__()
        self._stream = stream

    def show(self, facts):
        self._stream.write(self.text(facts) + "\n")
        self._stream.flush()

    def note(self, text):
        self._stream.write(text + "\n")


class _Notebook(_Progress):
    """A bar in the output of the cell."""

    def __init__(self):
        super().__init__()
        from IPython.display import HTML, display

        self._html = HTML
        self._handle = display(HTML("<progress></progress>"), display_id=True)

    def show(self, facts):
        bar = f"<progress value='{facts['iteration']}' max='{facts['iterations']}' style='width:20em'></progress>"
        self._handle.update(self._html(f"<div>{bar} {html.escape(self.text(facts))}</div>"))

    def note(self, text):
        from IPython.display import display

        display(self._html(html.escape(text)))
