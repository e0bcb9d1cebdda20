"""A session gets each line of memory once: through real hooks, each its own process, and a real daemon."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from clew.faces.hosts.dialects import COMPACT, PROMPT, START
from clew.faces.hosts.hook_given import FOLDER, MAX_LINES, MAX_LINES_UNTOLD, MAX_SESSIONS, Given
from tests.faces.hosts.test_hooks import HOSTS, LAMP, Session, event_for
from tests.testing.daemons import Daemon, running, short_folder

pytestmark = pytest.mark.requirement("USE-6", "HOST-2")

ASKED = "Which lamp does the lighthouse use?"
AGAIN = "Tell me once more which lamp the lighthouse uses"


@pytest.fixture(scope="module")
def running_daemon() -> Iterator[Daemon]:
    with short_folder() as folder, running(folder, embedder="hashing", tokenizer="estimate") as daemon:
        yield daemon


@pytest.fixture
def host_session(running_daemon: Daemon, request: pytest.FixtureRequest) -> Session:
    return Session(running_daemon, request.node.name)


def ask(session: Session, prompt: str, host: str = "claude-code", **fields: str) -> str:
    identity = {"prompt_id": prompt, "turn_id": prompt, "timestamp": prompt}
    return session.tell(host, event_for(host, PROMPT), prompt=prompt, **identity, **fields)


@pytest.mark.parametrize("host", HOSTS)
def test_a_session_gets_a_line_once(host: str, host_session: Session) -> None:
    host_session.remember(LAMP)
    assert LAMP in ask(host_session, ASKED, host)
    assert ask(host_session, AGAIN, host) == ""
    other = Session(host_session.daemon, f"another than {host_session.name}", host_session.user_id)
    assert LAMP in ask(other, AGAIN, host)


def test_new_lines_come_without_the_old_ones_in_their_own_frame(host_session: Session) -> None:
    host_session.remember(LAMP)
    ask(host_session, ASKED)
    host_session.remember("The lighthouse got a new lamp with LEDs.")
    found = ask(host_session, AGAIN)
    assert "LEDs" in found
    assert "Fresnel" not in found
    assert found.startswith("<context_pack>")
    assert found.endswith("</context_pack>")


def test_a_changed_line_is_given_again(host_session: Session) -> None:
    def write(text: str) -> None:
        with host_session.daemon.wire() as wire:
            note = {"collection": f"user:{host_session.user_id}", "id": "lamp", "text": text}
            wire.result("put", **note)
            wire.result("flush")

    write("The lighthouse uses the old Fresnel lamp.")
    assert "Fresnel" in ask(host_session, ASKED)
    assert ask(host_session, AGAIN) == ""
    write("The lighthouse uses a Fresnel lamp with LEDs.")
    assert "LEDs" in ask(host_session, "And now, which lamp does the lighthouse use?")


def test_lines_given_at_the_start_of_a_session_count_too(host_session: Session) -> None:
    host_session.remember(LAMP)
    assert LAMP in host_session.tell("claude-code", "SessionStart")
    assert ask(host_session, ASKED) == ""


@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_after_a_compaction_the_session_gets_each_line_once_more(host: str, host_session: Session) -> None:
    host_session.remember(LAMP)
    ask(host_session, ASKED, host)
    host_session.tell(host, event_for(host, COMPACT))
    found = host_session.tell(host, event_for(host, START), source="compact")
    assert LAMP in found
    assert LAMP not in ask(host_session, AGAIN, host)


@pytest.mark.parametrize("cause", ["startup", "clear", "compact"])
def test_a_cleared_prompt_holds_no_lines(cause: str, host_session: Session) -> None:
    host_session.remember(LAMP)
    ask(host_session, ASKED)
    host_session.tell("claude-code", "SessionStart", source=cause, cwd="/home/ada/windmill")
    found = ask(host_session, AGAIN)
    assert (LAMP in found) == (cause != "compact"), "after a compaction, the start itself has given it"


def test_a_resumed_session_still_has_its_lines(host_session: Session) -> None:
    host_session.remember(LAMP)
    ask(host_session, ASKED)
    host_session.tell("claude-code", "SessionStart", source="resume")
    assert ask(host_session, AGAIN) == ""


def test_a_cleared_prompt_is_noticed_even_without_a_daemon() -> None:
    with short_folder() as folder:
        with running(folder, embedder="hashing", tokenizer="estimate") as daemon:
            session = Session(daemon, "across restarts")
            session.remember(LAMP)
            assert LAMP in ask(session, ASKED)
        session.tell("claude-code", "SessionStart", source="clear")
        with running(folder, embedder="hashing", tokenizer="estimate") as daemon:
            assert LAMP in ask(Session(daemon, "across restarts"), AGAIN)
            assert ask(Session(daemon, "across restarts"), ASKED) == ""


# --- the file ----------------------------------------------------------------------------------------


def frame(*lines: str) -> str:
    return "\n".join(("<context_pack> Quotes.", *lines, "</context_pack>"))


def given_to(folder: Path, session_id: str = "s", *, is_told: bool = True) -> Given:
    return Given(str(folder), "ada", session_id, is_told=is_told)


def test_a_line_with_another_number_or_time_is_the_same_line(tmp_path: Path) -> None:
    given_to(tmp_path).remember(frame('[1,"2026-03-01 12:00","user","The lamp"]'))
    assert given_to(tmp_path).without_repeats(frame('[7,"2026-03-01","user","The lamp",{"ref":"turns:ada/1"}]')) == ""
    for other in ('"assistant","The lamp"]', '"user","The Lamp"]', '"user","The lamp",{"superseded":"no longer so"}]'):
        line = f'[1,"2026-03-01 12:00",{other}'
        assert given_to(tmp_path).without_repeats(frame(line)) == frame(line)


def test_an_old_line_stays_if_a_new_one_refers_to_it(tmp_path: Path) -> None:
    old = '[1,"2026-03-01","user","The lamp is green"]'
    given_to(tmp_path).remember(frame(old, '[2,"2026-03-01","user","The stairs creak"]'))
    new = '[3,"2026-03-02","user","The lamp is red",{"dissent":"contradicts [1]"}]'
    found = given_to(tmp_path).without_repeats(frame(old, '[2,"2026-03-01","user","The stairs creak"]', new))
    assert found == frame(old, new)


def test_each_frame_is_checked_separately(tmp_path: Path) -> None:
    first = '<earlier_guidance> Rules.\n[1,"2026-03-01","user","Never push"]\n</earlier_guidance>'
    given_to(tmp_path).remember(first)
    second = frame('[1,"2026-03-01","user","The lamp"]')
    assert given_to(tmp_path).without_repeats(f"{first}\n{second}") == second


def test_the_file_is_private_holds_no_words_and_is_bounded(tmp_path: Path) -> None:
    for number in range(MAX_LINES // 100 * 3):
        lines = [f'[{place},"","user","line {number} {place}"]' for place in range(1, 101)]
        given_to(tmp_path).remember(frame(*lines))
    (path,) = (tmp_path / FOLDER).iterdir()
    assert (path.stat().st_mode & 0o777, (tmp_path / FOLDER).stat().st_mode & 0o777) == (0o600, 0o700)
    assert b"line" not in path.read_bytes()
    assert len(path.read_bytes().splitlines()) <= 2 * MAX_LINES + 100
    assert given_to(tmp_path).without_repeats(frame(*lines)) == ""
    for number in range(MAX_SESSIONS + 5):
        given_to(tmp_path, f"s{number}").remember(frame(lines[0]))
    assert len(list((tmp_path / FOLDER).iterdir())) == MAX_SESSIONS


def test_a_host_that_does_not_report_compactions_gets_old_lines_again(tmp_path: Path) -> None:
    first = frame('[1,"","user","the first"]')
    given_to(tmp_path).remember(first)
    given_to(tmp_path).remember(frame(*(f'[{n},"","user","line {n}"]' for n in range(1, MAX_LINES_UNTOLD + 1))))
    assert given_to(tmp_path, is_told=True).without_repeats(first) == ""
    assert given_to(tmp_path, is_told=False).without_repeats(first) == first


@pytest.mark.parametrize("content", [b"", b"\xff\xfe garbage\n\n", b"0123"])
def test_a_damaged_file_hides_no_line_and_fails_no_hook(content: bytes, tmp_path: Path) -> None:
    line = frame('[1,"","user","The lamp"]')
    given_to(tmp_path).remember(line)
    (path,) = (tmp_path / FOLDER).iterdir()
    path.write_bytes(content)
    assert given_to(tmp_path).without_repeats(line) == line


def test_a_symbolic_link_is_not_followed(tmp_path: Path) -> None:
    line = frame('[1,"","user","The lamp"]')
    given_to(tmp_path).remember(line)
    (path,) = (tmp_path / FOLDER).iterdir()
    victim = tmp_path / "victim"
    victim.write_text("mine")
    path.unlink()
    path.symlink_to(victim)
    with pytest.raises(OSError, match="symbolic"):
        given_to(tmp_path).remember(line)
    assert victim.read_text() == "mine"
