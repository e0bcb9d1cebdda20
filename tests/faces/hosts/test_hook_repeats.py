"""A session gets a line of memory once: through real hooks, each a process of its own, and a real daemon."""

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
def served() -> Iterator[Daemon]:
    with short_folder() as folder, running(folder, embedder="hashing", tokenizer="estimate") as daemon:
        yield daemon


@pytest.fixture
def host_session(served: Daemon, request: pytest.FixtureRequest) -> Session:
    return Session(served, request.node.name)


def ask(session: Session, prompt: str, host: str = "claude-code", **fields: str) -> str:
    identity = {"prompt_id": prompt, "turn_id": prompt, "timestamp": prompt}
    return session.tell(host, event_for(host, PROMPT), prompt=prompt, **identity, **fields)


@pytest.mark.parametrize("host", HOSTS)
def test_a_line_is_given_once_in_a_session(host: str, host_session: Session) -> None:
    host_session.remember(LAMP)
    assert LAMP in ask(host_session, ASKED, host)
    assert ask(host_session, AGAIN, host) == ""
    other = Session(host_session.daemon, f"another than {host_session.name}", host_session.user_id)
    assert LAMP in ask(other, AGAIN, host)


def test_new_lines_come_without_the_old_ones_in_a_frame_of_their_own(host_session: Session) -> None:
    host_session.remember(LAMP)
    ask(host_session, ASKED)
    host_session.remember("The lighthouse got a new lamp with LEDs.")
    found = ask(host_session, AGAIN)
    assert "LEDs" in found
    assert "Fresnel" not in found
    assert found.startswith("<context_pack>")
    assert found.endswith("</context_pack>")


def test_a_line_that_changed_is_given_again(host_session: Session) -> None:
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


def test_the_start_of_a_session_counts_as_well(host_session: Session) -> None:
    host_session.remember(LAMP)
    assert LAMP in host_session.tell("claude-code", "SessionStart")
    assert ask(host_session, ASKED) == ""


@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_after_a_compaction_the_session_gets_lines_again_and_each_once(host: str, host_session: Session) -> None:
    host_session.remember(LAMP)
    ask(host_session, ASKED, host)
    host_session.tell(host, event_for(host, COMPACT))
    found = host_session.tell(host, event_for(host, START), source="compact")
    assert LAMP in found
    assert LAMP not in ask(host_session, AGAIN, host)


@pytest.mark.parametrize("cause", ["startup", "clear", "compact"])
def test_a_prompt_that_begins_anew_has_no_line_yet(cause: str, host_session: Session) -> None:
    host_session.remember(LAMP)
    ask(host_session, ASKED)
    host_session.tell("claude-code", "SessionStart", source=cause, cwd="/home/ada/windmill")
    found = ask(host_session, AGAIN)
    assert (LAMP in found) == (cause != "compact"), "after a compaction, the start itself has given it"


def test_a_resumed_session_has_its_lines(host_session: Session) -> None:
    host_session.remember(LAMP)
    ask(host_session, ASKED)
    host_session.tell("claude-code", "SessionStart", source="resume")
    assert ask(host_session, AGAIN) == ""


def test_a_cleared_prompt_is_noticed_also_while_no_daemon_runs() -> None:
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


def of(folder: Path, session_id: str = "s", *, is_told: bool = True) -> Given:
    return Given(str(folder), "ada", session_id, is_told=is_told)


def test_number_and_time_of_a_line_do_not_make_it_another(tmp_path: Path) -> None:
    of(tmp_path).remember(frame('[1,"2026-03-01 12:00","user","The lamp"]'))
    assert of(tmp_path).without_repeats(frame('[7,"2026-03-01","user","The lamp",{"ref":"turns:ada/1"}]')) == ""
    for other in ('"assistant","The lamp"]', '"user","The Lamp"]', '"user","The lamp",{"superseded":"no longer so"}]'):
        line = f'[1,"2026-03-01 12:00",{other}'
        assert of(tmp_path).without_repeats(frame(line)) == frame(line)


def test_a_line_stays_where_a_new_one_names_it(tmp_path: Path) -> None:
    old = '[1,"2026-03-01","user","The lamp is green"]'
    of(tmp_path).remember(frame(old, '[2,"2026-03-01","user","The stairs creak"]'))
    new = '[3,"2026-03-02","user","The lamp is red",{"dissent":"contradicts [1]"}]'
    found = of(tmp_path).without_repeats(frame(old, '[2,"2026-03-01","user","The stairs creak"]', new))
    assert found == frame(old, new)


def test_frames_are_judged_one_by_one(tmp_path: Path) -> None:
    first = '<earlier_guidance> Rules.\n[1,"2026-03-01","user","Never push"]\n</earlier_guidance>'
    of(tmp_path).remember(first)
    second = frame('[1,"2026-03-01","user","The lamp"]')
    assert of(tmp_path).without_repeats(f"{first}\n{second}") == second


def test_the_file_is_private_holds_no_words_and_is_bounded(tmp_path: Path) -> None:
    for number in range(MAX_LINES // 100 * 3):
        lines = [f'[{place},"","user","line {number} {place}"]' for place in range(1, 101)]
        of(tmp_path).remember(frame(*lines))
    (path,) = (tmp_path / FOLDER).iterdir()
    assert (path.stat().st_mode & 0o777, (tmp_path / FOLDER).stat().st_mode & 0o777) == (0o600, 0o700)
    assert b"line" not in path.read_bytes()
    assert len(path.read_bytes().splitlines()) <= 2 * MAX_LINES + 100
    assert of(tmp_path).without_repeats(frame(*lines)) == ""
    for number in range(MAX_SESSIONS + 5):
        of(tmp_path, f"s{number}").remember(frame(lines[0]))
    assert len(list((tmp_path / FOLDER).iterdir())) == MAX_SESSIONS


def test_a_host_that_does_not_tell_of_compactions_gets_old_lines_again(tmp_path: Path) -> None:
    first = frame('[1,"","user","the first"]')
    of(tmp_path).remember(first)
    of(tmp_path).remember(frame(*(f'[{n},"","user","line {n}"]' for n in range(1, MAX_LINES_UNTOLD + 1))))
    assert of(tmp_path, is_told=True).without_repeats(first) == ""
    assert of(tmp_path, is_told=False).without_repeats(first) == first


@pytest.mark.parametrize("content", [b"", b"\xff\xfe garbage\n\n", b"0123"])
def test_a_damaged_file_hides_nothing_and_hinders_nothing(content: bytes, tmp_path: Path) -> None:
    line = frame('[1,"","user","The lamp"]')
    of(tmp_path).remember(line)
    (path,) = (tmp_path / FOLDER).iterdir()
    path.write_bytes(content)
    assert of(tmp_path).without_repeats(line) == line


def test_no_symbolic_link_is_followed(tmp_path: Path) -> None:
    line = frame('[1,"","user","The lamp"]')
    of(tmp_path).remember(line)
    (path,) = (tmp_path / FOLDER).iterdir()
    victim = tmp_path / "victim"
    victim.write_text("mine")
    path.unlink()
    path.symlink_to(victim)
    with pytest.raises(OSError, match="symbolic"):
        of(tmp_path).remember(line)
    assert victim.read_text() == "mine"
