"""Tool calls in the text of a turn: found behind the words, and described in a few words with their outcome."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from clew.text import calls
from clew.text.calls import Call

pytestmark = pytest.mark.requirement("USE-1")


@dataclass(frozen=True)
class Turn:
    text: str = ""
    made: tuple[Call, ...] = ()
    call_ids: tuple[str, ...] = ()
    is_result: bool = False
    answers: str | None = None
    has_failed: bool = field(default=False)


def call(tool: str, **arguments: str) -> Call:
    return Call(tool, arguments)


def describe(*made: Call, results: tuple[str, ...] = ()) -> str:
    ids = tuple(f"c{number}" for number in range(len(made)))
    turns = [Turn(made=made, call_ids=ids)]
    turns += [Turn(text, is_result=True, answers=id_) for text, id_ in zip(results, ids, strict=False)]
    return calls.tell(calls.steps(turns))


IMPORTED = "I look at it first.\n\n" + "\n\n".join(
    [
        calls.render_call("read", {"path": "src/theme.ts", "limit": 20}),
        calls.render_call("edit", {"path": "src/theme.ts", "oldText": "path: x\n\n[calls]", "newText": "const a = 1;"}),
    ]
)
OF_PLUGIN = (
    'I look at it first.\nread({"path":"src/theme.ts","limit":20})\nedit({"path":"src/theme.ts","oldText":"a\\nb"})'
)


@pytest.mark.parametrize("text", [IMPORTED, OF_PLUGIN])
def test_words_and_calls_are_told_apart_in_every_stored_form(text: str) -> None:
    assert calls.speech(text) == "I look at it first."
    assert [(made.tool, made.arguments["path"]) for made in calls.calls(text)] == [
        ("read", "src/theme.ts"),
        ("edit", "src/theme.ts"),
    ]


def test_text_without_calls_is_all_speech() -> None:
    text = "It calls bash(1) and [calls nobody] in between."
    assert (calls.speech(text), calls.calls(text)) == (text, [])


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (call("edit", file_path="/home/ann/work/app/src/theme.ts"), "edited app/src/theme.ts"),
        (call("Write", file_path="a.md"), "wrote a.md"),
        (call("bash", command="cd /srv/app && npm test 2>&1 | tail -5"), "ran npm test"),
        (call("bash", command="cat > notes/plan.md << 'EOF'"), "wrote notes/plan.md"),
        (call("bash", command="sed -i '' 's/a b c d/e f g h/g' src/a.ts"), "edited src/a.ts"),
        (call("read", path="a/b/c/d.ts"), "read d.ts"),
        (call("weather", city="Graz", name="Graz"), "called weather Graz"),
        (call("tool_call", command="make"), "ran make"),
    ],
)
def test_a_call_is_described_by_what_it_did(made: Call, expected: str) -> None:
    assert describe(made) == expected


def test_changes_come_before_commands_and_commands_before_reading() -> None:
    made = [
        call("read", path="a.ts"),
        call("bash", command="grep -n theme src"),
        call("bash", command="npm test"),
        call("edit", path="b.ts"),
        call("edit", path="b.ts"),
    ]
    assert describe(*made) == "edited b.ts; ran npm test; read a.ts"


def test_a_command_ends_with_its_counts_or_its_error() -> None:
    passed = "\n".join(["line"] * 30 + ["2 failed, 41 passed in 3.1s"])
    broken = "Compiling\n" * 5 + "src/a.ts(3,4): error TS2353: unknown property\nCommand exited with code 2"
    made = (call("bash", command="pytest -q"), call("bash", command="npm run build"))
    assert describe(*made, results=(passed, broken)) == (
        "ran pytest -q: 2 failed, 41 passed in 3.1s; "
        "ran npm run build: failed: src/a.ts(3,4): error TS2353: unknown property / Command exited with […]"
    )


def test_the_same_command_counts_once_with_its_last_ending() -> None:
    made = tuple(call("bash", command="npm test") for _ in range(3))
    assert describe(*made, results=("1 failed", "1 failed", "7 passed")) == "ran npm test 3 times: 7 passed"


def test_what_a_tool_read_is_never_quoted() -> None:
    content = "We decided to never use chalk again.\n" * 50
    assert describe(call("read", path="notes.md"), results=(content,)) == "read notes.md"


def test_a_result_of_one_of_several_unnamed_calls_is_not_guessed() -> None:
    turns = [
        Turn(made=(call("bash", command="make a"),)),
        Turn(made=(call("bash", command="make b"),)),
        Turn("Error: no rule", is_result=True),
    ]
    assert calls.tell(calls.steps(turns)) == "ran make a; ran make b; failed: Error: no rule"


def test_a_host_that_says_that_a_tool_failed_is_believed() -> None:
    turns = [
        Turn(made=(call("edit", path="a.ts"),), call_ids=("x",)),
        Turn("no", is_result=True, answers="x", has_failed=True),
    ]
    assert calls.tell(calls.steps(turns)) == "edited a.ts (failed)"


@pytest.mark.parametrize("told_", ["read a.ts", "read 7 files; searched 3 times", "ran grep -n x y"])
def test_calls_that_only_look_are_recognised(told_: str) -> None:
    assert calls.is_looking(told_)
    assert not calls.is_looking(f"edited b.ts; {told_}")
