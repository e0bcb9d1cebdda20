"""Literal and regular-expression search of the raw history, the same in this process and through a daemon."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from clew.api import Compact, MemoryApi, Message
from clew.errors import InvalidInput, NotFound
from tests.conftest import opened_api

pytestmark = pytest.mark.requirement("COMP-9")

MIB = 1024 * 1024


@pytest.fixture(scope="module", params=["memory", "client"])
def api(request: pytest.FixtureRequest) -> Iterator[MemoryApi]:
    with opened_api(request.param, embedder="none") as opened:
        yield opened


@pytest.fixture
def sid(request: pytest.FixtureRequest) -> str:
    return request.node.name


def say(api: MemoryApi, session_id: str, *texts: str) -> None:
    api.ingest_batch(session_id, [Message(role="user", text=text, id=f"t{n}") for n, text in enumerate(texts)])


def found(
    api: MemoryApi, session_id: str, pattern: str, *, regex: bool = False, ignore_case: bool = False
) -> list[str]:
    return [match.id for match in api.grep(session_id, pattern, regex=regex, ignore_case=ignore_case).matches]


def test_a_literal_string_is_found_with_its_line(api: MemoryApi, sid: str) -> None:
    say(api, sid, "first line\nERR_42 (fatal) here\nlast", "err_42", "ERR_4")
    (match,) = api.grep(sid, "ERR_42 (fatal)").matches
    assert (match.id, match.role, match.line_number, match.line) == ("t0", "user", 2, "ERR_42 (fatal) here")
    assert found(api, sid, "ERR_42", ignore_case=True) == ["t0", "t1"]
    assert found(api, sid, "nowhere") == []
    with pytest.raises(NotFound):
        api.grep(f"{sid}-other", "ERR")


def test_an_expression_is_matched_line_by_line(api: MemoryApi, sid: str) -> None:
    say(api, sid, "port 8080\nport 9", "PORT 1234", "report", "狐と犬")
    assert found(api, sid, r"^port \d{2,4}$", regex=True) == ["t0"]
    assert found(api, sid, r"^port \d{2,4}$", regex=True, ignore_case=True) == ["t0", "t1"]
    assert found(api, sid, "狐.犬", regex=True) == ["t3"]
    assert found(api, sid, r"^port \d{2,4}$") == []


@pytest.mark.requirement("COMP-8")
def test_compacted_turns_are_found_too(api: MemoryApi, sid: str) -> None:
    say(api, sid, *(f"a long enough sentence about job {n:03d} that can be told in fewer words" for n in range(30)))
    assert api.call(Compact(session_id=sid, force=True)).did_compact
    assert found(api, sid, "job 003") == ["t3"]


def test_each_page_continues_the_last_one_and_respects_its_limit(api: MemoryApi, sid: str) -> None:
    say(api, sid, *("a\nb\na" if n % 3 else "nothing" for n in range(40)))
    every = api.grep(sid, "a").matches
    for limit in (1, 2, 3, 7, 100):
        pages, cursor = [], 0
        while cursor is not None:
            page = api.grep(sid, "a", limit=limit, cursor=cursor)
            assert len(page.matches) <= limit
            pages += page.matches
            cursor = page.cursor  # type: ignore[assignment]
        assert list(dict.fromkeys(match.id for match in pages)) == list(dict.fromkeys(match.id for match in every))
        assert limit == 1 or pages == list(every)


@pytest.mark.requirement("RPC-2")
def test_a_turn_with_very_many_matches_respects_the_limit(api: MemoryApi, sid: str) -> None:
    say(api, sid, "a\n" * 200_000, "a")
    page = api.grep(sid, "a", limit=5)
    assert [match.line_number for match in page.matches] == [1, 2, 3, 4, 5]
    assert page.cursor is not None
    assert [match.id for match in api.grep(sid, "a", limit=5, cursor=page.cursor).matches] == ["t1"]


def test_a_long_line_is_cut_around_its_match(api: MemoryApi, sid: str) -> None:
    say(api, sid, "x" * 300_000 + "NEEDLE" + "y" * 300_000)
    (match,) = api.grep(sid, "NEEDLE").matches
    assert "NEEDLE" in match.line
    assert len(match.line) < 300


@pytest.mark.parametrize("pattern", ["(", "[a", "a**", "(?P<n", r"\1", "(?=a)", "(x{1000}){1000}", "\\", "a{2,1}"])
def test_an_invalid_expression_is_refused_with_a_reason(api: MemoryApi, sid: str, pattern: str) -> None:
    say(api, sid, "anything")
    with pytest.raises(InvalidInput, match=r"pattern is not a regular expression: ."):
        api.grep(sid, pattern, regex=True)


def test_an_empty_or_endless_pattern_and_a_limit_out_of_bounds_are_refused(api: MemoryApi, sid: str) -> None:
    say(api, sid, "anything")
    for pattern, limit in (("", 1), ("x" * 1001, 1), ("x", 0), ("x", 10_001)):
        with pytest.raises(InvalidInput):
            api.grep(sid, pattern, limit=limit)
    with pytest.raises(InvalidInput):
        api.grep(sid, "x", cursor=-1)


@pytest.mark.timeout(300)  # exponential backtracking would take years
@pytest.mark.requirement("RPC-2")
@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "(.*a){20}b", "^(([a-z])+.)+[A-Z]([a-z])+$"])
def test_an_expression_built_to_explode_takes_linear_time(api: MemoryApi, sid: str, pattern: str) -> None:
    say(api, sid, "a" * (MIB // 2) + "!")
    assert found(api, sid, pattern, regex=True) == []
