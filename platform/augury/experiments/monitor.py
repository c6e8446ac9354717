"""Show the progress of a run's training, read from its history."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyarrow import fs

from augury.core.messages import logger
from augury.core.progress import StatusLine, duration
from augury.core.store import Folder
from augury.core.threads import run_every
from augury.training import history
from augury.training.settings import Training


@contextmanager
def show_progress(run: Folder, label: str, training: Training) -> Iterator[None]:
    """Show the progress of a run's training, and log a message when it ends."""
    with StatusLine(label) as line:
        monitor = TrainingMonitor(run, label, training, line)
        try:
            seconds = history.flush_seconds(run) / 2
            with run_every(seconds, monitor.refresh, name=label):
                yield
        finally:
            monitor.refresh()
    if monitor.latest:
        logger.info(monitor.text(ended=True))


class TrainingMonitor:
    """The progress of a run, read from its history."""

    def __init__(self, run: Folder, label: str, training: Training, line: StatusLine):
        self.run, self.label, self.training, self.line = run, label, training, line
        self.read: fs.FileInfo | None = None
        self.latest: dict[str, float] = {}
        self.update, self.epochs = 0, 0.0
        self.timed_share = 0.0
        """The share that was done when the training time was last recorded."""

    def refresh(self) -> None:
        """Read and show new records."""
        written = self.run.info(history.FILE)
        if written != self.read:
            for record in history.read(self.run):
                self.latest |= record["metrics"]
                self.update, self.epochs = record["update"], record["epochs"]
                if "train/seconds" in record["metrics"]:
                    self.timed_share = self.share()
        self.read = written
        if self.latest:
            self.line.show(self.text(), self.share())

    def share(self) -> float:
        """Return the share of training that is done, unless patience ends it before."""
        training = self.training
        shares = [self.update / training.max_updates] if training.max_updates else []
        if training.max_epochs:
            shares.append(self.epochs / training.max_epochs)
        return max(shares)

    def text(self, ended: bool = False) -> str:
        """Return the state of training in a line, with the time left or, at its end, the time it
        took."""
        seconds, when = self.latest.get("train/seconds", 0.0), ""
        if seconds and self.timed_share:
            when = f"{duration(seconds * (1 - self.share()) / self.timed_share)} left at most"
        total = f"/{self.training.max_updates:,}" if self.training.max_updates and not ended else ""
        epochs = f"/{self.training.max_epochs}" if self.training.max_epochs and not ended else ""
        shown = {"loss": self.latest["train/loss"]} if "train/loss" in self.latest else {}
        for key, value in self.latest.items():  # of the last validation
            if key.startswith("valid/") and key not in ("valid/loss", "valid/best"):
                shown[key.removeprefix("valid/")] = value
        numbers = [f"{name} {value:.2f}" for name, value in shown.items()]
        numbers.append(f"{self.latest.get('train/tokens_per_second', 0):,.0f} tokens/s")
        place = f"update {self.update:,}{total}, epoch {self.epochs:.1f}{epochs}"
        return " · ".join(
            filter(None, (self.label, duration(seconds) if ended else when, place, *numbers))
        )
