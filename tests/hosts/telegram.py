"""A Telegram Bot API on loopback: people write to a bot in direct chats and groups, and read what it answers."""

from __future__ import annotations

import json
import queue
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

TOKEN = "1000000001:AAE-a-token-of-this-test-alone_000000"
BOT = {
    "id": 1_000_000_001,
    "is_bot": True,
    "first_name": "Bot",
    "username": "clew_test_bot",
    "can_join_groups": True,
    "can_read_all_group_messages": True,
    "supports_inline_queries": False,
}
_POLL_S = 5.0


@dataclass(frozen=True, slots=True)
class Person:
    id: int
    name: str


@dataclass(frozen=True, slots=True)
class Sent:
    """A message of the bot, and its chat."""

    chat: int
    text: str


class FakeTelegram:
    """Serves the methods a bot needs to receive and send text; every other one succeeds and does nothing."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._updates: queue.Queue[dict[str, Any]] = queue.Queue()
        self._sent: list[Sent] = []
        self._number = 0
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def sent(self) -> list[Sent]:
        with self._lock:
            return list(self._sent)

    def write(self, person: Person, text: str, group: int | None = None) -> None:
        """A message to the bot: in the person's own chat with it, or in a group, where it is addressed by name."""
        chat: dict[str, Any] = {"id": person.id, "type": "private", "first_name": person.name}
        entities = []
        if group is not None:
            chat = {"id": group, "type": "supergroup", "title": "Harbour"}
            name = f"@{BOT['username']}"
            entities = [{"type": "mention", "offset": 0, "length": len(name)}]
            text = f"{name} {text}"
        sender = {"id": person.id, "is_bot": False, "first_name": person.name, "language_code": "en"}
        with self._lock:
            self._number += 1
            number = self._number
        message = {"message_id": number, "from": sender, "chat": chat, "date": int(time.time()), "text": text}
        if entities:
            message["entities"] = entities
        self._updates.put({"update_id": number, "message": message})

    def _answer(self, method: str, given: dict[str, Any]) -> Any:
        if method == "getUpdates":
            return self._next_updates(float(given.get("timeout") or 0))
        if method in ("sendMessage", "editMessageText"):
            return self._message_of_the_bot(int(given["chat_id"]), str(given.get("text", "")))
        chat = {"id": given.get("chat_id"), "type": "private"}
        fixed = {"getMe": BOT, "getMyCommands": [], "getWebhookInfo": {"url": ""}, "getChat": chat}
        return fixed.get(method, True)

    def _message_of_the_bot(self, chat: int, text: str) -> dict[str, Any]:
        with self._lock:
            self._number += 1
            self._sent.append(Sent(chat, text))
            where = {"id": chat, "type": "private"}
            return {"message_id": self._number, "date": int(time.time()), "chat": where, "from": BOT, "text": text}

    def _next_updates(self, timeout_s: float) -> list[dict[str, Any]]:
        try:
            return [self._updates.get(timeout=min(timeout_s, _POLL_S) or 0.001)]
        except queue.Empty:
            return []

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        telegram = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._respond({})

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                try:
                    given = json.loads(body) if body else {}
                except ValueError:
                    given = {}
                self._respond(given)

            def _respond(self, given: dict[str, Any]) -> None:
                method = self.path.partition("?")[0].rpartition("/")[2]
                data = json.dumps({"ok": True, "result": telegram._answer(method, given)}).encode()
                with suppress(BrokenPipeError, ConnectionResetError):  # a host that stops does not wait for its poll
                    self.send_response(200)
                    self.send_header("content-type", "application/json")
                    self.send_header("content-length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                """Say nothing: the tests read `sent`."""

        return Handler
