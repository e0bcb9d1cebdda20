"""Endpoints, access tokens and folders: the daemon's refusals before it listens."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import pytest

from clew.config import Config
from clew.errors import InvalidInput, Unauthorized
from clew.faces.daemon.auth import check_peer, check_uid, daemon_token, same_token
from clew.wire.endpoint import TcpEndpoint, UnixEndpoint, find_token, parse_endpoint

pytestmark = pytest.mark.requirement("RPC-1")


@pytest.mark.parametrize(
    ("text", "endpoint", "written"),
    [
        ("unix:/run/x.sock", UnixEndpoint("/run/x.sock"), "unix:/run/x.sock"),
        ("tcp:127.0.0.1:80", TcpEndpoint("127.0.0.1", 80), "tcp:127.0.0.1:80"),
        ("tcp:localhost:80", TcpEndpoint("127.0.0.1", 80), "tcp:127.0.0.1:80"),
        ("tcp:[::1]:80", TcpEndpoint("::1", 80), "tcp:[::1]:80"),
        ("tcp:::1:80", TcpEndpoint("::1", 80), "tcp:[::1]:80"),
    ],
)
def test_an_endpoint_is_parsed_and_printed(text: str, endpoint: object, written: str) -> None:
    assert parse_endpoint(text) == endpoint
    assert str(parse_endpoint(text)) == written


@pytest.mark.parametrize(
    "text",
    ["", "unix:", "tcp:", "tcp:80", "http://x", "tcp:0.0.0.0:80", "tcp:10.0.0.1:80", "tcp:example.org:80",
     "tcp::80", "tcp:127.0.0.1:", "tcp:127.0.0.1:x", "tcp:127.0.0.1:65536", "tcp:127.0.0.1:-1"],
)  # fmt: skip
def test_anything_but_a_socket_path_or_a_loopback_port_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_endpoint(text)


def test_a_socket_path_over_the_system_limit_is_refused_by_name() -> None:
    with pytest.raises(InvalidInput, match=r"bytes and this system allows"):
        parse_endpoint("unix:/" + "x" * 200)


def test_a_relative_socket_path_becomes_absolute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    assert parse_endpoint("unix:x.sock") == UnixEndpoint("/x.sock")


def test_the_token_file_is_made_once_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    config = Config(data_dir=tmp_path)
    token = daemon_token(config, {})
    assert len(token) >= 40
    assert stat.S_IMODE(config.token_file.stat().st_mode) == 0o600
    assert daemon_token(config, {}) == token
    assert find_token(TcpEndpoint("127.0.0.1", 1), config) == token


def test_an_empty_token_file_is_filled(tmp_path: Path) -> None:
    config = Config(data_dir=tmp_path)
    config.token_file.touch(0o600)
    assert daemon_token(config, {})


def test_the_environment_gives_the_token_and_leaves_no_file(tmp_path: Path) -> None:
    config = Config(data_dir=tmp_path)
    assert daemon_token(config, {"CLEW_TOKEN": "abc"}) == "abc"
    assert not config.token_file.exists()


def test_a_token_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    config = Config(data_dir=tmp_path)
    config.token_file.write_text("secret")
    config.token_file.chmod(0o644)
    with pytest.raises(InvalidInput, match="chmod 600"):
        daemon_token(config, {})


def test_a_unix_socket_needs_no_token(tmp_path: Path) -> None:
    assert find_token(UnixEndpoint("/x"), Config(data_dir=tmp_path)) is None


@pytest.mark.parametrize("given", [None, 5, "", "abd", "abcd", ["abc"], "ä"])
def test_only_an_identical_token_matches(given: object) -> None:
    assert same_token("abc", "abc")
    assert not same_token(given, "abc")


def test_a_process_of_another_system_user_is_refused() -> None:
    check_uid(1000, 1000)
    check_uid(0, 1000)
    with pytest.raises(Unauthorized):
        check_uid(1001, 1000)
    with pytest.raises(Unauthorized):
        check_uid(1000, 0)


def test_the_kernel_identifies_the_peer_process(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = socket.socketpair()
    with one, other:
        check_peer(one)
        if os.geteuid() != 0:
            monkeypatch.setattr(os, "geteuid", lambda: 4242)
            with pytest.raises(Unauthorized):
                check_peer(one)
