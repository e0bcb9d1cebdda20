"""The part of WebSocket that a client of a gateway on loopback needs: text frames, pings, one thread."""

from __future__ import annotations

import base64
import os
import socket
from typing import Self

TEXT, CLOSE, PING, PONG = 0x1, 0x8, 0x9, 0xA
LAST = 0x80
MASKED = 0x80


class WebSocket:
    """The client side. It masks its frames, as the protocol requires of clients."""

    def __init__(self, host: str, port: int, timeout_s: float) -> None:
        self._sock = socket.create_connection((host, port), timeout_s)
        self._stream = self._sock.makefile("rb")
        key = base64.b64encode(os.urandom(16)).decode()
        self._sock.sendall(
            f"GET / HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        status = self._stream.readline()
        if b" 101 " not in status:
            raise ConnectionError(f"the gateway refused a WebSocket: {status!r}")
        while self._stream.readline().strip():
            pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()
        self._sock.close()

    def send(self, text: str) -> None:
        self._send(TEXT, text.encode())

    def read(self) -> str:
        """The next text, put together from its fragments."""
        pieces: list[bytes] = []
        while True:
            head = self._read(2)
            payload = self._read(self._length(head[1]))
            kind = head[0] & 0x0F
            if kind == PING:
                self._send(PONG, payload)
            elif kind == CLOSE:
                raise ConnectionError(f"the gateway closed the WebSocket: {payload[2:].decode()}")
            elif kind != PONG:
                pieces.append(payload)
                if head[0] & LAST:
                    return b"".join(pieces).decode()

    def _length(self, short: int) -> int:
        if short < 126:
            return short
        return int.from_bytes(self._read(2 if short == 126 else 8))

    def _read(self, size: int) -> bytes:
        data = self._stream.read(size)
        if len(data) < size:
            raise ConnectionError("the gateway hung up")
        return data

    def _send(self, kind: int, payload: bytes) -> None:
        size = len(payload)
        if size < 126:
            length = bytes([MASKED | size])
        elif size < 1 << 16:
            length = bytes([MASKED | 126]) + size.to_bytes(2)
        else:
            length = bytes([MASKED | 127]) + size.to_bytes(8)
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[place % 4] for place, byte in enumerate(payload))
        self._sock.sendall(bytes([LAST | kind]) + length + mask + masked)
