"""The rules of a pack, by example: which records enter, why others do not, in which layer and order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import pytest

from clew.core.collections import Collection
from clew.core.marks import By, Mark, made
from clew.core.model import Metadata, Provenance, Record, Trust
from clew.core.ranking import Weights
from clew.features.pack.choice import Choice, Lane, Reason, importance_of, kind_of
from clew.features.pack.dissent import COMPARED
from clew.features.pack.layout import arrange, fit, line, render, without_private_paths
from clew.features.pack.rules import SUMMARY_ITEMS, UNTRUSTED_ITEMS, Policy, select
from clew.features.pack.search import follow_marks, pack_score
from clew.kernel.parts import Parts
from clew.kernel.search import unsought
from clew.text.excerpts import LINE_CHARS, OVERVIEW_CHARS, Layer
from clew.text.framing import CUT_MARK, PACK_CLOSE, PACK_OPEN, Quoted
from clew.text.grading.kinds import kind_of_text
from tests.testing.lines import read

NOW_MS = 1_790_000_000_000
POLICY = Policy(min_similarity=0.4, items=5, budget_tokens=1000)


def choice(
    id: str, text: str = "", *, similarity: float = 0.9, score: float | None = None, age: int = 0, **fields: Any
) -> Choice:
    record = Record(
        collection=Collection(fields.pop("collection", "user:u")),
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
    origin = fields.pop("origin", id)
    return Choice(unsought(record), Lane.WARM, origin, similarity if score is None else score, similarity, **fields)


def marked(**values: Any) -> Metadata:
    return {Mark(name).value: made(value, By.CLEW, NOW_MS) for name, value in values.items()}


def ids(chosen: Sequence[Choice]) -> list[str]:
    return [item.record.id for item in chosen]


def reasons(choices: Sequence[Choice]) -> dict[str, Reason]:
    """The reasons of the records left out."""
    return {item.ref: item.reason for item in choices if item.reason is not None}


def dissent(chosen: Sequence[Choice]) -> list[tuple[str, str]]:
    return [(item.ref, item.contradicts) for item in chosen if item.contradicts]


@pytest.mark.requirement("PACK-3")
def test_the_best_are_chosen_and_each_other_candidate_has_its_reason() -> None:
    candidates = [
        choice("far", similarity=0.39),
        choice("quarantined", trust=Trust.QUARANTINED),
        choice("tool", trust=Trust.UNTRUSTED),
        choice("old", marks={"superseded_by": "user:u/new"}),
        choice("dull", similarity=0.45, marks={"grade": {"label": "ignore"}}),
        choice("copy", "The same  WORDS", score=0.6),
        choice("first", "the same words", score=0.7),
        choice("place", origin="first", score=0.5),
    ]
    assert ids(select(candidates, POLICY)) == ["first"]
    assert reasons(candidates) == {
        "user:u/far": Reason.SCORE,
        "user:u/quarantined": Reason.TRUST,
        "user:u/tool": Reason.TRUST,
        "user:u/old": Reason.SUPERSEDED,
        "user:u/dull": Reason.IMPORTANCE,
        "user:u/copy": Reason.DUPLICATE,
        "user:u/place": Reason.DUPLICATE,
    }


@pytest.mark.requirement("PACK-4")
def test_quarantined_text_never_enters_even_on_request() -> None:
    asked = Policy(min_similarity=0.0, items=5, budget_tokens=1000, untrusted=True)
    assert ids(select([choice("q", trust=Trust.QUARANTINED), choice("far", similarity=0.0)], asked)) == ["far"]


@pytest.mark.requirement("PACK-4")
def test_untrusted_text_enters_only_on_request_and_in_a_limited_number() -> None:
    tools = [choice(f"t{number}", trust=Trust.UNTRUSTED, score=0.9 - number / 100) for number in range(5)]
    asked = Policy(min_similarity=0.4, items=5, budget_tokens=1000, untrusted=True)
    assert ids(select([*tools, choice("own", score=0.1)], asked)) == ["t0", "t1", "t2", "own"]
    assert UNTRUSTED_ITEMS == 3
    assert reasons(tools) == {"user:u/t3": Reason.CAP, "user:u/t4": Reason.CAP}


@pytest.mark.requirement("PACK-1")
def test_the_number_of_summaries_is_limited() -> None:
    summaries = [choice(f"s{number}", provenance=Provenance.SUMMARY) for number in range(5)]
    assert len(select(summaries, POLICY)) == SUMMARY_ITEMS


@pytest.mark.requirement("PACK-1")
def test_only_the_requested_kinds_enter() -> None:
    wanted = Policy(min_similarity=0.4, items=5, budget_tokens=1000, kinds=frozenset({"decision"}))
    candidates = [choice("d", marks={"kind": "decision"}), choice("f", marks={"kind": "fact"})]
    assert ids(select(candidates, wanted)) == ["d"]
    assert reasons(candidates) == {"user:u/f": Reason.KIND}


@pytest.mark.requirement("LIFE-1", "PACK-3")
def test_ungraded_and_very_similar_records_pass_the_grade_filter() -> None:
    near = choice("near", similarity=0.9, marks={"grade": {"label": "ignore"}})
    unknown = choice("unknown", similarity=0.41)
    assert ids(select([near, unknown], POLICY)) == ["near", "unknown"]
    assert (importance_of(near.record), importance_of(unknown.record)) == ("ignore", None)


@pytest.mark.requirement("LIFE-5", "PACK-3")
def test_only_the_records_own_mark_makes_it_superseded() -> None:
    merged = choice("all", marks={"merged": ["user:u/part"]})
    part = choice("part", marks={"superseded_by": "user:u/all"})
    select([merged, part], POLICY)
    assert reasons([merged, part]) == {"user:u/part": Reason.SUPERSEDED}
    assert ids(select([merged, choice("part")], POLICY)) == ["all", "part"]


@pytest.mark.requirement("LIFE-5", "PACK-3")
def test_in_a_circle_of_superseding_records_the_newest_admissible_one_wins() -> None:
    def one(id_: str, by: str, **fields: Any) -> Choice:
        return choice(id_, marks={"superseded_by": f"user:u/{by}"}, **fields)

    circle = [one("a", "b", age=2), one("b", "c", age=1), one("c", "a", age=3)]
    leading_in = [one("before", "a"), one("first", "before")]
    assert ids(select([*leading_in, *circle], POLICY)) == ["b"]
    assert ids(select([one("self", "self")], POLICY)) == ["self"]
    newest_out = [one("a", "b", age=2), one("b", "a", trust=Trust.QUARANTINED)]
    assert ids(select(newest_out, POLICY)) == ["a"]
    resting = one("a", "b", collection="archive:user:u", age=1)
    assert ids(select([resting, one("b", "a")], POLICY)) == ["b"]
    assert ids(select([resting, one("b", "a"), choice("a")], POLICY)) == ["a"]


@pytest.mark.requirement("PACK-5")
def test_the_newer_of_two_contradicting_records_leads_and_the_other_is_marked() -> None:
    old = choice("old", "Deploys are on Friday", score=0.9, age=1000)
    new = choice("new", "Deploys are on Monday", score=0.5)
    other = choice("other", score=0.7)
    chosen = select([old, new, other], POLICY)
    assert ids(chosen) == ["new", "old", "other"]
    assert dissent(chosen) == [("user:u/old", "user:u/new")]


@pytest.mark.requirement("PACK-5", "PACK-4")
def test_the_more_trusted_record_leads_even_if_it_is_older() -> None:
    old = choice("old", "Deploys are on Friday", age=1000, trust=Trust.TRUSTED)
    new = choice("new", "Deploys are on Monday")
    assert ids(select([old, new], POLICY)) == ["old", "new"]


@pytest.mark.requirement("PACK-5")
def test_dissent_takes_only_one_slot_the_last() -> None:
    kept = [choice(f"k{number}", score=0.9 - number / 100) for number in range(4)]
    lead = choice("lead", "Deploys are on Friday", score=0.95)
    against = [choice(f"a{n}", f"Deploys are on {day}", score=0.1) for n, day in enumerate(("Monday", "Sunday"))]
    assert ids(select([*kept, lead, *against], POLICY)) == ["lead", "a0", "k0", "k1", "k2"]
    assert reasons([*kept, lead, *against]) == {"user:u/k3": Reason.CAP, "user:u/a1": Reason.CAP}
    alone = select([lead, *against], Policy(min_similarity=0.4, items=1, budget_tokens=1000))
    assert (ids(alone), dissent(alone)) == (["lead"], [])


@pytest.mark.requirement("PACK-5")
def test_a_mark_makes_dissent_whatever_the_words_or_the_collection() -> None:
    one = choice("one", "Blue suits us", marks={"contradicts": ["user:u/two"]})
    two = choice("two", "Nothing of the kind", age=10, collection="archive:user:u")
    assert dissent(select([one, two], POLICY)) == [("archive:user:u/two", "user:u/one")]


@pytest.mark.requirement("PACK-5")
def test_the_number_of_compared_candidates_is_limited() -> None:
    lead = choice("lead", "Deploys are on Friday", score=1.0)
    fill = [choice(f"f{number:02}", score=0.8) for number in range(COMPARED + 10)]
    late = choice("late", "Deploys are on Monday", score=0.1)
    assert dissent(select([lead, *fill, late], POLICY)) == []


@pytest.mark.requirement("PACK-3")
def test_malformed_marks_are_ignored() -> None:
    marks = {"kind": 7, "grade": "ignore", "superseded_by": ["x"], "contradicts": "x", "merged": {"x": 1}}
    item = choice("odd", marks=marks)
    assert ids(select([item], POLICY)) == ["odd"]
    assert isinstance(kind_of(item.record), str)


@pytest.mark.requirement("CAPTURE-5")
def test_the_words_of_an_unmarked_record_give_its_kind() -> None:
    assert kind_of(choice("s", provenance=Provenance.SUMMARY).record) == "note"
    turn = choice("t", "We decided to use Postgres for the archive.", provenance=Provenance.USER_TURN).record
    assert kind_of(turn) == kind_of_text(turn.text, turn.role)


@pytest.mark.requirement("PACK-3")
def test_a_record_passes_its_similarity_to_its_direct_successor_only() -> None:
    chain = [
        choice("a", similarity=0.8, marks={"superseded_by": "user:u/b"}),
        choice("b", similarity=0.4, marks={"superseded_by": "user:u/c"}),
        choice("c", similarity=0.1),
    ]
    follow_marks(cast(Parts, None), {item.ref: item for item in chain}, {}, min_similarity=0.35)
    assert [(item.similarity, item.linked_from) for item in chain] == [
        (0.8, None),
        (0.8, "user:u/a"),
        (0.4, "user:u/b"),
    ]


@pytest.mark.requirement("RANK-2")
def test_a_score_is_the_search_score_within_bounds() -> None:
    weights = Weights.normalised(0.7, 0.2, 0.1)
    assert pack_score(1.0, 0.5, 0.6, weights, 1.0) == pytest.approx(0.7 + 0.1 + 0.06)
    assert pack_score(1.0, 1.0, 1.0, weights, 0.5) == pytest.approx(0.5)


# --- layout ------------------------------------------------------------------------------------------


def quoted(ref: str, text: str = "short", *, kind: str = "fact", payload: str = "", **fields: Any) -> Choice:
    """A chosen record before the layout."""
    collection, _, id_ = ref.rpartition("/")
    made_ = choice(id_, text, collection=collection or "user:u", marks={"kind": kind}, **fields)
    made_.quoted = Quoted("2026-01-01", "note", text, payload=payload)
    return made_


def by_chars(shown: Choice) -> int:
    return len(shown.text)


def depths(fitted: Sequence[Choice]) -> list[tuple[str, Layer | None]]:
    return [(item.record.id, item.layer) for item in fitted]


LONG = "The pelican flew over the harbour, and nobody saw where it went that day. " * 20


@pytest.mark.requirement("PACK-2")
def test_a_short_text_is_shown_whole_and_a_long_one_as_an_overview() -> None:
    shown = fit([quoted("a"), quoted("b", LONG)], [], by_chars, allowance=600, untrusted_allowance=0)
    assert depths(shown) == [("a", Layer.WHOLE), ("b", Layer.OVERVIEW)]
    assert len(shown[1].text) <= OVERVIEW_CHARS
    assert CUT_MARK.strip() in shown[1].text


@pytest.mark.requirement("PACK-2")
def test_little_room_gives_single_lines_and_spare_room_gives_whole_texts() -> None:
    tight = [quoted("a", LONG), quoted("b", LONG), quoted("c", LONG)]
    shown = fit(tight, [], by_chars, allowance=600, untrusted_allowance=0)
    assert depths(shown) == [("a", Layer.OVERVIEW), ("b", Layer.LINE)]
    assert len(shown[1].text) <= LINE_CHARS
    assert (reasons(tight), tight[2].layer) == ({"user:u/c": Reason.BUDGET}, None)
    roomy = fit([quoted("a", LONG), quoted("b", LONG)], [], by_chars, allowance=2000, untrusted_allowance=0)
    assert depths(roomy) == [("a", Layer.WHOLE), ("b", Layer.OVERVIEW)]
    assert [item.text == LONG for item in roomy] == [True, False]


@pytest.mark.requirement("PACK-4")
def test_untrusted_text_keeps_to_its_share_and_to_an_excerpt() -> None:
    outside = [quoted(name, LONG, trust=Trust.UNTRUSTED) for name in "ab"]
    shown = fit([*outside, quoted("c")], [], by_chars, allowance=5000, untrusted_allowance=450)
    assert depths(shown) == [("a", Layer.OVERVIEW), ("c", Layer.WHOLE)]
    assert reasons(outside) == {"user:u/b": Reason.CAP}


@pytest.mark.requirement("PACK-1")
def test_state_then_summaries_then_untrusted_text_and_dissent_after_its_opposite() -> None:
    choices = [
        quoted("web", trust=Trust.UNTRUSTED),
        quoted("summary", kind="note", provenance=Provenance.SUMMARY),
        quoted("note", kind="note"),
        quoted("decision", kind="decision"),
        quoted("against", kind="note", contradicts="user:u/decision"),
        quoted("fact"),
    ]
    shown = arrange(fit(choices, [], by_chars, allowance=1000, untrusted_allowance=1000))
    assert ids(shown) == ["decision", "against", "fact", "note", "summary", "web"]
    text, lines = render(shown)
    assert text.split("\n") == [PACK_OPEN, *lines, PACK_CLOSE]
    assert [read(text)["n"] for text in lines] == [1, 2, 3, 4, 5, 6]
    assert lines[1] == '[2,"2026-01-01","note","short",{"dissent":"contradicts [1]"}]'


@pytest.mark.requirement("PACK-2")
def test_a_line_tells_how_to_get_the_rest() -> None:
    def said(item: Choice, layer: Layer) -> tuple[Any, Any, Any]:
        item.show(layer, "short")
        shown = read(line(item, 1, None))
        return shown.get("more"), shown.get("ref"), shown.get("payload")

    assert said(quoted("a"), Layer.WHOLE) == (None, None, None)
    assert said(quoted("a", LONG), Layer.OVERVIEW) == ("get", "user:u/a", None)
    assert said(quoted("a", LONG), Layer.LINE) == ("get", "user:u/a", None)
    assert said(quoted("a", provenance=Provenance.SUMMARY), Layer.WHOLE) == ("expand", "user:u/a", None)
    named = "0a1b, 90000 bytes"
    assert said(quoted("a", payload=named), Layer.WHOLE) == (None, "user:u/a", named)


@pytest.mark.requirement("PACK-1")
def test_an_empty_pack_has_no_frame() -> None:
    assert render([]) == ("", [])


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
def test_paths_are_shown_without_the_name_of_a_person(text: str, shown: str) -> None:
    assert without_private_paths(text, ["/srv/clew"]) == shown
