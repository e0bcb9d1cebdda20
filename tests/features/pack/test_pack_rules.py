"""The rules of a pack, by example: who gets in, who does not and why, how deep, in which order."""

from __future__ import annotations

from typing import Any

import pytest

from clew.core.marks import By, Mark, made
from clew.core.model import Metadata, Provenance, Record, Trust
from clew.core.ranking import Weights
from clew.features.pack.considered import Considered, importance_of, kind_of
from clew.features.pack.layout import Entry, Shown, arranged, fit, line, rendered, without_private_paths
from clew.features.pack.opposing import COMPARED
from clew.features.pack.rules import SUMMARY_ITEMS, UNTRUSTED_ITEMS, Policy, Reason, Selection, pack_score, select
from clew.text.excerpts import LINE_CHARS, OVERVIEW_CHARS, Layer
from clew.text.framing import CUT_MARK, PACK_CLOSE, PACK_OPEN
from clew.text.grading.kinds import kind_of_text
from tests.testing.lines import read

NOW_MS = 1_790_000_000_000
POLICY = Policy(min_similarity=0.4, items=5, budget_tokens=1000)


def considered(
    id: str, text: str = "", *, similarity: float = 0.9, score: float | None = None, age: int = 0, **fields: Any
) -> Considered:
    record = Record(
        collection=fields.pop("collection", "user:u"),
        id=id,
        text=text or f"something about {id}",
        ts_ms=NOW_MS - age,
        role=None,
        provenance=fields.pop("provenance", Provenance.MEMORY),
        trust=fields.pop("trust", Trust.UNKNOWN),
        stability=0.5,
        tokens=10,
        metadata={},
        seq=1,
        version=1,
        access_count=0,
        last_used_ms=None,
        marks=marked(**fields.pop("marks", {})),
    )
    return Considered(record, fields.pop("origin", id), similarity if score is None else score, similarity)


def marked(**values: Any) -> Metadata:
    return {Mark(name).value: made(value, By.CLEW, NOW_MS) for name, value in values.items()}


def chosen(selection: Selection) -> list[str]:
    return [item.record.id for item in selection.chosen]


@pytest.mark.requirement("PACK-3")
def test_the_best_are_chosen_and_each_other_candidate_has_its_reason() -> None:
    candidates = [
        considered("far", similarity=0.39),
        considered("quarantined", trust=Trust.QUARANTINED),
        considered("tool", trust=Trust.UNTRUSTED),
        considered("old", marks={"superseded_by": "user:u/new"}),
        considered("dull", similarity=0.45, marks={"grade": {"label": "ignore"}}),
        considered("copy", "The same  WORDS", score=0.6),
        considered("first", "the same words", score=0.7),
        considered("place", origin="first", score=0.5),
    ]
    selection = select(candidates, POLICY)
    assert chosen(selection) == ["first"]
    assert selection.reasons == {
        "user:u/far": Reason.SCORE,
        "user:u/quarantined": Reason.TRUST,
        "user:u/tool": Reason.TRUST,
        "user:u/old": Reason.SUPERSEDED,
        "user:u/dull": Reason.IMPORTANCE,
        "user:u/copy": Reason.DUPLICATE,
        "user:u/place": Reason.DUPLICATE,
    }


@pytest.mark.requirement("PACK-4")
def test_quarantined_text_never_enters_however_it_is_asked_for() -> None:
    asked = Policy(min_similarity=0.0, items=5, budget_tokens=1000, untrusted=True)
    selection = select([considered("q", trust=Trust.QUARANTINED), considered("far", similarity=0.0)], asked)
    assert chosen(selection) == ["far"]


@pytest.mark.requirement("PACK-4")
def test_untrusted_text_enters_only_when_asked_for_and_only_so_often() -> None:
    tools = [considered(f"t{number}", trust=Trust.UNTRUSTED, score=0.9 - number / 100) for number in range(5)]
    asked = Policy(min_similarity=0.4, items=5, budget_tokens=1000, untrusted=True)
    selection = select([*tools, considered("own", score=0.1)], asked)
    assert chosen(selection) == ["t0", "t1", "t2", "own"]
    assert UNTRUSTED_ITEMS == 3
    assert selection.reasons == {"user:u/t3": Reason.CAP, "user:u/t4": Reason.CAP}


@pytest.mark.requirement("PACK-1")
def test_summaries_are_few() -> None:
    summaries = [considered(f"s{number}", provenance=Provenance.SUMMARY) for number in range(5)]
    assert len(select(summaries, POLICY).chosen) == SUMMARY_ITEMS


@pytest.mark.requirement("PACK-1")
def test_only_the_kinds_that_were_asked_for_enter() -> None:
    wanted = Policy(min_similarity=0.4, items=5, budget_tokens=1000, kinds=frozenset({"decision"}))
    candidates = [considered("d", marks={"kind": "decision"}), considered("f", marks={"kind": "fact"})]
    selection = select(candidates, wanted)
    assert chosen(selection) == ["d"]
    assert selection.reasons == {"user:u/f": Reason.KIND}


@pytest.mark.requirement("LIFE-1", "PACK-3")
def test_what_has_no_grade_is_not_filtered_and_what_is_very_near_is_shown_whatever_its_grade() -> None:
    near = considered("near", similarity=0.9, marks={"grade": {"label": "ignore"}})
    unknown = considered("unknown", similarity=0.41)
    assert chosen(select([near, unknown], POLICY)) == ["near", "unknown"]
    assert (importance_of(near.record), importance_of(unknown.record)) == ("ignore", None)


@pytest.mark.requirement("LIFE-5", "PACK-3")
def test_only_its_own_mark_says_that_a_record_is_superseded() -> None:
    merged = considered("all", marks={"merged": ["user:u/part"]})
    part = considered("part", marks={"superseded_by": "user:u/all"})
    assert select([merged, part], POLICY).reasons == {"user:u/part": Reason.SUPERSEDED}
    assert chosen(select([merged, considered("part")], POLICY)) == ["all", "part"]


@pytest.mark.requirement("LIFE-5", "PACK-3")
def test_of_records_that_supersede_one_another_the_newest_that_may_stand_holds() -> None:
    def one(id_: str, by: str, **fields: Any) -> Considered:
        return considered(id_, marks={"superseded_by": f"user:u/{by}"}, **fields)

    circle = [one("a", "b", age=2), one("b", "c", age=1), one("c", "a", age=3)]
    leading_in = [one("before", "a"), one("first", "before")]
    assert chosen(select([*leading_in, *circle], POLICY)) == ["b"]
    assert chosen(select([one("self", "self")], POLICY)) == ["self"]
    newest_out = [one("a", "b", age=2), one("b", "a", trust=Trust.QUARANTINED)]
    assert chosen(select(newest_out, POLICY)) == ["a"]
    resting = one("a", "b", collection="archive:user:u", age=1)
    assert chosen(select([resting, one("b", "a")], POLICY)) == ["b"]
    assert chosen(select([resting, one("b", "a"), considered("a")], POLICY)) == ["a"]


@pytest.mark.requirement("PACK-5")
def test_of_two_that_disagree_the_newer_leads_and_the_other_is_marked() -> None:
    old = considered("old", "Deploys are on Friday", score=0.9, age=1000)
    new = considered("new", "Deploys are on Monday", score=0.5)
    other = considered("other", score=0.7)
    selection = select([old, new, other], POLICY)
    assert chosen(selection) == ["new", "old", "other"]
    assert selection.dissent is not None
    assert (selection.dissent.ref, selection.dissent.against) == ("user:u/old", "user:u/new")


@pytest.mark.requirement("PACK-5", "PACK-4")
def test_the_more_trusted_leads_even_where_it_is_older() -> None:
    old = considered("old", "Deploys are on Friday", age=1000, trust=Trust.TRUSTED)
    new = considered("new", "Deploys are on Monday")
    assert chosen(select([old, new], POLICY)) == ["old", "new"]


@pytest.mark.requirement("PACK-5")
def test_the_slot_for_dissent_takes_the_last_place_and_there_is_one() -> None:
    kept = [considered(f"k{number}", score=0.9 - number / 100) for number in range(4)]
    lead = considered("lead", "Deploys are on Friday", score=0.95)
    against = [considered(f"a{n}", f"Deploys are on {day}", score=0.1) for n, day in enumerate(("Monday", "Sunday"))]
    selection = select([*kept, lead, *against], POLICY)
    assert chosen(selection) == ["lead", "a0", "k0", "k1", "k2"]
    assert selection.reasons == {"user:u/k3": Reason.CAP, "user:u/a1": Reason.CAP}
    alone = select([lead, *against], Policy(min_similarity=0.4, items=1, budget_tokens=1000))
    assert (chosen(alone), alone.dissent) == (["lead"], None)


@pytest.mark.requirement("PACK-5")
def test_a_mark_makes_dissent_whatever_the_words_and_wherever_the_record_rests() -> None:
    one = considered("one", "Blue suits us", marks={"contradicts": ["user:u/two"]})
    two = considered("two", "Nothing of the kind", age=10, collection="archive:user:u")
    selection = select([one, two], POLICY)
    assert selection.dissent is not None
    assert selection.dissent.ref == "archive:user:u/two"


@pytest.mark.requirement("PACK-5")
def test_only_so_many_candidates_are_compared() -> None:
    lead = considered("lead", "Deploys are on Friday", score=1.0)
    fill = [considered(f"f{number:02}", score=0.8) for number in range(COMPARED + 10)]
    late = considered("late", "Deploys are on Monday", score=0.1)
    assert select([lead, *fill, late], POLICY).dissent is None


@pytest.mark.requirement("PACK-3")
def test_malformed_marks_mean_nothing() -> None:
    marks = {"kind": 7, "grade": "ignore", "superseded_by": ["x"], "contradicts": "x", "merged": {"x": 1}}
    item = considered("odd", marks=marks)
    assert chosen(select([item], POLICY)) == ["odd"]
    assert isinstance(kind_of(item.record), str)


@pytest.mark.requirement("CAPTURE-5")
def test_a_record_without_a_mark_has_the_kind_its_words_give_it() -> None:
    assert kind_of(considered("s", provenance=Provenance.SUMMARY).record) == "note"
    turn = considered("t", "We decided to use Postgres for the archive.", provenance=Provenance.USER_TURN).record
    assert kind_of(turn) == kind_of_text(turn.text, turn.role)


@pytest.mark.requirement("RANK-2")
def test_a_score_is_that_of_search_and_stays_in_bounds() -> None:
    weights = Weights.normalised(0.7, 0.2, 0.1)
    assert pack_score(1.0, 0.5, 0.6, weights, 1.0) == pytest.approx(0.7 + 0.1 + 0.06)
    assert pack_score(1.0, 1.0, 1.0, weights, 0.5) == pytest.approx(0.5)


# --- layout ------------------------------------------------------------------------------------------


def entry(ref: str, text: str = "short", **fields: Any) -> Entry:
    given = {"when": "2026-01-01", "who": "note", "kind": "fact", "trust": ""} | fields
    return Entry(ref=ref, text=text, **given)


def by_chars(shown: Shown) -> int:
    return len(shown.text)


LONG = "The pelican flew over the harbour, and nobody saw where it went that day. " * 20


@pytest.mark.requirement("PACK-2")
def test_a_short_text_is_whole_and_a_long_one_an_overview() -> None:
    shown, _ = fit([entry("a"), entry("b", LONG)], [], by_chars, allowance=600, outside_allowance=0)
    assert [item.layer for item in shown] == [Layer.WHOLE, Layer.OVERVIEW]
    assert len(shown[1].text) <= OVERVIEW_CHARS
    assert CUT_MARK.strip() in shown[1].text


@pytest.mark.requirement("PACK-2")
def test_where_room_is_short_a_line_must_do_and_where_it_is_left_the_best_are_whole() -> None:
    shown, reasons = fit(
        [entry("a", LONG), entry("b", LONG), entry("c", LONG)], [], by_chars, allowance=600, outside_allowance=0
    )
    assert [item.layer for item in shown] == [Layer.OVERVIEW, Layer.LINE]
    assert len(shown[1].text) <= LINE_CHARS
    assert reasons == {"c": Reason.BUDGET}
    roomy, _ = fit([entry("a", LONG), entry("b", LONG)], [], by_chars, allowance=2000, outside_allowance=0)
    assert [item.layer for item in roomy] == [Layer.WHOLE, Layer.OVERVIEW]


@pytest.mark.requirement("PACK-4")
def test_words_from_outside_keep_to_their_share_and_to_an_excerpt() -> None:
    outside = [entry("a", LONG, outside=True), entry("b", LONG, outside=True), entry("c")]
    shown, reasons = fit(outside, [], by_chars, allowance=5000, outside_allowance=450)
    assert [(item.entry.ref, item.layer) for item in shown] == [("a", Layer.OVERVIEW), ("c", Layer.WHOLE)]
    assert reasons == {"b": Reason.CAP}


@pytest.mark.requirement("PACK-1")
def test_state_comes_first_then_summaries_then_words_from_outside_and_dissent_behind_what_it_contradicts() -> None:
    entries = [
        entry("web", outside=True),
        entry("summary", kind="note", summary=True),
        entry("note", kind="note"),
        entry("decision", kind="decision"),
        entry("against", kind="note", contradicts="decision"),
        entry("fact"),
    ]
    shown, _ = fit(entries, [], by_chars, allowance=1000, outside_allowance=1000)
    order = [item.entry.ref for item in arranged(shown)]
    assert order == ["decision", "against", "fact", "note", "summary", "web"]
    text, lines = rendered(arranged(shown))
    assert text.split("\n") == [PACK_OPEN, *lines, PACK_CLOSE]
    assert [read(text)["n"] for text in lines] == [1, 2, 3, 4, 5, 6]
    assert lines[1] == '[2,"2026-01-01","note","short",{"dissent":"contradicts [1]"}]'


@pytest.mark.requirement("PACK-2")
def test_a_line_says_where_the_rest_is() -> None:
    def more(shown: Shown) -> tuple[Any, Any]:
        said = read(line(shown, 1, None))
        return said.get("more"), said.get("ref")

    assert more(Shown(entry("a"), Layer.WHOLE, "short")) == (None, None)
    assert more(Shown(entry("a", LONG), Layer.OVERVIEW, "short")) == ("get", "a")
    assert more(Shown(entry("a", LONG), Layer.LINE, "short")) == ("get", "a")
    assert more(Shown(entry("a", summary=True), Layer.WHOLE, "short")) == ("expand", "a")
    payload = read(line(Shown(entry("a", payload="0a1b, 90000 bytes"), Layer.WHOLE, "short"), 1, None))
    assert (payload["payload"], payload["ref"]) == ("0a1b, 90000 bytes", "a")


@pytest.mark.requirement("PACK-1")
def test_an_empty_pack_has_no_frame() -> None:
    assert rendered([]) == ("", [])


# --- paths -------------------------------------------------------------------------------------------


@pytest.mark.requirement("PACK-1")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see /home/ann/notes/a.md", "see ~/notes/a.md"),
        ("/Users/ann", "~"),
        ('open "/Users/ann/x y.txt"', 'open "~/x y.txt"'),
        (r"C:\Users\Ann\code\a.py", r"~\code\a.py"),
        (r'{"p":"C:\\Users\\Ann\\a"}', r'{"p":"~\\a"}'),
        ("file:///home/ann/a", "file://~/a"),
        ("/mnt/c/Users/ann/a", "~/a"),
        ("/root/.ssh/id and /rooted", "~/.ssh/id and /rooted"),
        ("https://example.org/home/ann/a", "https://example.org/home/ann/a"),
        ("/srv/clew/db and /etc/home", "~/db and /etc/home"),
        ("the home/office budget", "the home/office budget"),
    ],
)
def test_paths_that_name_a_person_are_shown_without_the_name(text: str, shown: str) -> None:
    assert without_private_paths(text, ["/srv/clew"]) == shown
