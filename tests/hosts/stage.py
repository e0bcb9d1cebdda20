"""The whole scene of a host's test: a scripted model, the gateway with the plugin, and a real daemon behind a relay."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clew.api import JournalEntry, ReadJournal, RecordView
from clew.client import Client, connect
from clew.config import Config
from clew.errors import NotFound
from tests.hosts.fake_model import FakeModel
from tests.hosts.gateway import Gateway, Home, installed_host, running_gateway
from tests.hosts.relay import Relay
from tests.testing.daemons import Daemon, running, short_folder

SHOWN_LOG_CHARS = 10_000
RULE = "Always name the company when a ferry is mentioned."


class DaemonSeat:
    """A daemon that can be killed, paused, and started again on the same store and socket."""

    def __init__(self, folder: Path, owned: ExitStack) -> None:
        self._owned = owned
        self._folder = folder
        self._daemon: Daemon
        self.socket = folder / "data" / "clew.sock"
        self.start()

    def start(self) -> None:
        rules = self._folder / "AGENTS.md"
        daemon = running(self._folder / "data", embedder="hashing", authored_files=rules)
        self._daemon = self._owned.enter_context(daemon)

    def kill(self) -> None:
        self._daemon.stop(signal.SIGKILL)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Pauses the daemon: its socket takes requests, and nobody answers."""
        self._daemon.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._daemon.process.send_signal(signal.SIGCONT)

    def client(self) -> Client:
        return connect(self._daemon.endpoint, Config.load(environment={}, data_dir=self._daemon.data_dir))


@dataclass(frozen=True, slots=True)
class Stage:
    """What a test acts on: the model and the gateway from outside, the daemon's store from inside."""

    model: FakeModel
    gateway: Gateway
    daemon: DaemonSeat
    relay: Relay
    link: Path
    """Where the plugin looks for the daemon."""

    def leave_out_relay(self) -> None:
        """From now on the plugin talks to the daemon itself."""
        _lead(self.link, self.daemon.socket)
        self.relay.hang_up()

    def session_id(self, key: str) -> str:
        session_id: str = self.gateway.call("sessions.describe", key=key)["session"]["sessionId"]
        return session_id

    def turns(self, key: str) -> tuple[RecordView, ...]:
        """All turns of a session in the store, in order."""
        return self.records(f"session_raw:{self.session_id(key)}")

    def records(self, collection: str) -> tuple[RecordView, ...]:
        with self.daemon.client() as client:
            try:
                return client.list(collection).records
            except NotFound:
                return ()

    def journal(self, key: str) -> tuple[JournalEntry, ...]:
        with self.daemon.client() as client:
            return client.call(ReadJournal(session_id=self.session_id(key))).entries


@contextmanager
def staged(model: FakeModel | None = None, **settings: Any) -> Iterator[Stage]:
    """The scene, ready to use, with the given model and host settings; at the end, everything it started is stopped."""
    host = installed_host()
    with ExitStack() as owned:
        folder = owned.enter_context(short_folder())
        (folder / "AGENTS.md").write_text(f"# Ferries\n\n- {RULE}\n")
        model = owned.enter_context(model or FakeModel())
        daemon = DaemonSeat(folder, owned)
        relay = owned.enter_context(Relay(folder / "relay.sock", daemon.socket))
        link = folder / "memory.sock"
        _lead(link, folder / "relay.sock")
        home = Home.make(host, folder / "home", model.base_url, **settings)
        home.clew("openclaw", "install", "--endpoint", f"unix:{link}")
        gateway = owned.enter_context(running_gateway(home))
        try:
            yield Stage(model, gateway, daemon, relay, link)
        except Exception as failure:
            failure.add_note(f"The gateway said last:\n{gateway.log[-SHOWN_LOG_CHARS:]}")
            raise


def _lead(link: Path, target: Path) -> None:
    new = link.with_suffix(".new")
    new.symlink_to(target)
    new.replace(link)
