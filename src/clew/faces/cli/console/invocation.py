"""One run of the command line: which store it is about, and how its answer is to be printed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from clew.config import Config
from clew.errors import DaemonUnreachable
from clew.faces.cli.console.terminal import Report, print_degraded, print_json, progress_bars
from clew.wire.endpoint import UnixEndpoint, parse_endpoint
from clew.wire.serving import serving_endpoint

if TYPE_CHECKING:
    from clew.api import MemoryApi, Request

T = TypeVar("T")


def connect_if_served(config: Config) -> MemoryApi | None:
    """A client of the daemon that answers for this data folder, or None when none does."""
    endpoint = serving_endpoint(config)
    address = parse_endpoint(endpoint)
    if isinstance(address, UnixEndpoint) and not Path(address.path).exists():
        return None
    from clew.client import connect

    try:
        return connect(endpoint, config)
    except DaemonUnreachable:
        return None


@dataclass(slots=True)
class Invocation:
    """The global options as given, filled in while the command line is read."""

    data_dir: Path | None = None
    endpoint: str | None = None
    json: bool = False
    served_at: str | None = None
    """The endpoint of the daemon that answers, once one does; None when the store was opened here."""

    def config(self, **arguments: Any) -> Config:
        return Config.load(data_dir=self.data_dir, **arguments)

    def open(self) -> MemoryApi:
        """The daemon that was named, or the one that serves the data folder, or the store itself."""
        config = self.config()
        if self.endpoint:
            from clew.client import connect

            self.served_at = self.endpoint
            return connect(self.endpoint, config)
        daemon = connect_if_served(config)
        if daemon is not None:
            self.served_at = serving_endpoint(config)
            return daemon
        from clew.engine import Memory

        return Memory.open(config)

    def answer(self, request: Request[T], for_people: Callable[[T], None], *, doing: str = "") -> T:
        """Carry out a request and print its answer. `doing` names the bar of one that takes long."""
        with self.open() as memory, self.progress(doing, None):
            answer = memory.call(request)
        self.show(answer, for_people)
        return answer

    def show(self, answer: T, for_people: Callable[[T], None]) -> None:
        """Print the answer as one JSON object, or in the way made for people."""
        if self.json:
            print_json(answer)
        else:
            for_people(answer)
            print_degraded(getattr(answer, "degraded", ()))

    def confirm(self, question: str, what: str) -> None:
        """Ask before something that cannot be undone; `what` needs --yes where nobody can be asked."""
        if self.json or not sys.stdin.isatty():
            raise click.UsageError(f"{what} needs --yes where nobody can be asked.")
        click.confirm(question, abort=True, err=True)

    @contextmanager
    def progress(self, label: str, total: int | None) -> Iterator[Callable[[int], None]]:
        """Yields a function that is told how much is done; draws a bar where someone can see it."""
        with progress_bars(visible=bool(label) and not self.json) as report:
            report(label, 0, total or 0)
            yield lambda done: report(label, done, total or 0)

    def stages(self) -> AbstractContextManager[Report]:
        """The same for work of several steps, each with a bar of its own."""
        return progress_bars(visible=not self.json)
