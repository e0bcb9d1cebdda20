"""The tools that a model has for one user's memory. Each makes a few calls of `MemoryApi`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Literal, NamedTuple, ParamSpec

import msgspec
from mcp.server.mcpserver import MCPServer
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field

from clew.api import FactView, MemoryApi, PurgeReceipt
from clew.core.collections import Collection, CollectionKind
from clew.core.ids import ID_BYTES, digest
from clew.core.model import Role, Trust
from clew.errors import ClewError, InvalidInput, NotFound
from clew.faces.mcp import render, shapes
from clew.faces.mcp.reach import SESSION_KINDS, Reach, session_in
from clew.text.framing import quote
from clew.text.redaction import Policy, redact

MAX_REMEMBERED_CHARS = 16_000
MAX_CHARS = 50_000
MAX_CLOSED_SHOWN = 20
PREVIEW_CHARS = 300

P = ParamSpec("P")

Kind = Literal["fact", "preference", "decision", "task", "plan", "observation", "event", "note"]

Ref = Annotated[
    str,
    Field(min_length=3, max_length=1100, description="A reference `collection/id` that another tool gave."),
]
Query = Annotated[
    str,
    Field(min_length=1, max_length=4000, description="What to look for, in plain words; exact names and ids help."),
]
SessionId = Annotated[
    str,
    Field(max_length=512, description="A session of this user to look into, too; empty for this server's own, if any."),
]
Around = Annotated[int, Field(ge=0, le=50)]


class _Question(NamedTuple):
    """A question about facts."""

    subject: str
    predicate: str
    at: str
    history: bool
    limit: int


@dataclass(frozen=True, slots=True)
class Tools:
    memory: MemoryApi
    reach: Reach

    def add_to(self, server: MCPServer) -> None:
        for tool, title, hints in (
            (self.search, "Search memory", _READS),
            (self.pack, "Pack what is known", _READS),
            (self.remember, "Remember", _ADDS),
            (self.timeline, "Show what was around it", _READS),
            (self.get, "Get a record", _READS),
            (self.expand, "Expand a summary", _READS),
            (self.facts, "Ask what is true", _READS),
            (self.forget, "Forget", _REMOVES),
        ):
            server.add_tool(_report_errors(tool), title=title, description=inspect.getdoc(tool), annotations=hints)

    def search(
        self, query: Query, limit: Annotated[int, Field(ge=1, le=50)] = 10, session_id: SessionId = ""
    ) -> Annotated[CallToolResult, shapes.Lines]:
        """Find what was said, kept or done: one line each, best first, with references.

        Looks through the user's memories, what they said in any session, captured tool outcomes and shared notes.
        What the assistant said is found in its session: name it. Then use timeline for what was around a line, get for
        its whole text, expand for a summary's turns.
        """
        user_id, session = self.reach.user_id, self.reach.session(session_id)
        said = self.memory.search(query, k=limit, user_id=user_id, session_id=session)
        done = self.memory.recall(query, k=limit, user_id=user_id, session_id=session)
        lines = [
            *map(render.line_of_hit, said.hits),
            *(render.line_of(line) for line in done.lines if Collection(line.ref).kind is CollectionKind.LEDGER),
        ]
        best = sorted(lines, key=lambda line: -(line.score or 0.0))[:limit]
        notes = list(dict.fromkeys((*said.degraded, *done.degraded)))
        return _answer(shapes.Lines(lines=best, notes=notes), render.quote_lines(best) or "Nothing was found.", notes)

    def pack(
        self,
        query: Query,
        budget_tokens: Annotated[int | None, Field(ge=64, le=16_000, description="Room for it; else 1200.")] = None,
        session_id: SessionId = "",
        untrusted: Annotated[bool, Field(description="Take text from tools and from outside, too.")] = False,
    ) -> CallToolResult:
        """Everything known that bears on a request, chosen, shortened and cited within a token budget.

        The first thing to call when earlier work may matter: it costs one call, and says so when nothing is known.
        """
        bundle = self.memory.pack(
            query,
            user_id=self.reach.user_id,
            session_id=self.reach.session(session_id),
            budget_tokens=budget_tokens,
            untrusted=untrusted,
            project=self.reach.project,
            refs=True,
        )
        text = render.pack_with_notes(bundle)  # as text alone: the same again as data would take the budget twice
        return CallToolResult(content=[TextContent(type="text", text=text)])

    def remember(
        self,
        text: Annotated[
            str,
            Field(
                min_length=1,
                max_length=MAX_REMEMBERED_CHARS,
                description="One self-contained statement: who, what, when; no references to this conversation.",
            ),
        ],
        kind: Annotated[Kind | None, Field(description="What it is; a plan is intent, never a fact.")] = None,
        source: Annotated[
            str,
            Field(
                max_length=2000, description="The address it came from, if it was read on a page, in a file or tool."
            ),
        ] = "",
    ) -> Annotated[CallToolResult, shapes.Remembered]:
        """Keep one statement about the user or their work for good. The same text again is kept once.

        It is kept as the assistant's words, not as the user's, and never becomes a rule. Packs show it once a turn
        of the user says the same; until then search and get find it. Secrets are cut out.
        """
        statement = text.strip()
        if not statement:
            raise InvalidInput("there is nothing to remember: the text is blank")
        collection, id_ = Collection.memories(self.reach.user_id), _memory_id(statement)
        given = {"role": Role.ASSISTANT.value, "via": "mcp"} | ({"sourceUrl": source} if source else {})
        known = next(iter(self.memory.get(collection, id_).records), None)
        redacted: tuple[str, ...] = ()
        if known is None or not given.items() <= known.metadata.items() or kind not in (None, render.kind_of(known)):
            metadata = given if known is None else known.metadata | given
            redacted = self.memory.put(collection, id_, statement, metadata, kind=kind, by_model=True).redacted
        (kept,) = self.memory.get(collection, id_, max_chars=1).records
        remembered = shapes.Remembered(
            ref=f"{collection}/{id_}", new=known is None, trust=kept.trust, redacted=list(redacted)
        )
        return _answer(remembered, _describe_memory(remembered))

    def timeline(self, ref: Ref, before: Around = 5, after: Around = 5) -> Annotated[CallToolResult, shapes.Lines]:
        """What was around a record: the turns and tool outcomes of its session before and after it, oldest first."""
        self.reach.record(ref, max_chars=1)
        lines = list(map(render.line_of, self.memory.timeline(ref, before=before, after=after).lines))
        return _answer(shapes.Lines(lines=lines), render.quote_lines(lines))

    def get(
        self,
        ref: Ref,
        max_chars: Annotated[int, Field(ge=1, le=MAX_CHARS, description="Longer texts are cut, and say so.")] = 8000,
    ) -> Annotated[CallToolResult, shapes.Whole]:
        """The whole text of one record, with where it is from."""
        found = render.whole(self.reach.record(ref, max_chars))
        return _answer(found, render.quote_record(found))

    def expand(
        self,
        ids: Annotated[
            list[str],
            Field(
                min_length=1,
                max_length=100,
                description="References or ids of summaries or turns of one session; bare ids need session_id.",
            ),
        ],
        session_id: SessionId = "",
        query: Annotated[str, Field(max_length=4000, description="What must be among it where room is short.")] = "",
        budget_tokens: Annotated[int, Field(ge=64, le=50_000, description="Room for the turns.")] = 4000,
    ) -> Annotated[CallToolResult, shapes.Expanded]:
        """The turns that a summary covers, word for word. A summary never loses a turn."""
        session = self._session_of_nodes(session_id, ids)
        nodes = [_node_id(session, given) for given in ids]
        found = self.memory.expand(session, *nodes, budget_tokens=budget_tokens, query=query or None)
        text = render.quote_turns(found.turns)
        expanded = shapes.Expanded(
            text=text,
            turns=list(map(render.turn, found.turns)),
            closed=list(map(render.closed, found.closed[:MAX_CLOSED_SHOWN])),
            more_closed=max(len(found.closed) - MAX_CLOSED_SHOWN, 0),
        )
        notes = [f"{len(found.closed)} not opened for want of room or depth"] if found.closed else []
        return _answer(expanded, text, notes)

    def facts(
        self,
        subject: Annotated[
            str, Field(max_length=200, description="Whom or what it is about, by its name; empty for everything.")
        ] = "",
        predicate: Annotated[
            str, Field(max_length=64, description="Only this, such as uses, status, owns, depends_on, decision.")
        ] = "",
        at: Annotated[str, Field(max_length=40, description="As of this day or time, ISO 8601; empty for now.")] = "",
        history: Annotated[bool, Field(description="All that ever held of the subject, oldest first.")] = False,
        limit: Annotated[int, Field(ge=1, le=100)] = 30,
    ) -> Annotated[CallToolResult, shapes.Facts]:
        """What is true of a subject, since when and on what evidence: now, as of a day, or all its history.

        Only what was asserted with sources that still say so. Where nothing is known it says that, which is an answer.
        """
        if history and (at or not subject):
            raise InvalidInput("history needs a subject, and no day")
        asked = _Question(subject, predicate, at, history, limit)
        found = [view for owner in (self.reach.user_id, None) for view in self._facts_of(owner, asked)]
        shown = [render.fact(view) for view in found if not view.stale][:limit]
        lost = sum(view.stale for view in found)
        notes = [f"{lost} left out that have lost their sources"] if lost else []
        known = shapes.Facts(facts=shown, known=bool(shown), notes=notes)
        about = f" about {quote(subject)}" if subject else ""
        return _answer(known, render.quote_facts(shown) or f"Nothing is known{about}.", notes)

    def forget(
        self,
        ref: Ref,
        confirm: Annotated[bool, Field(description="False shows what would go; true removes it, for good.")] = False,
    ) -> Annotated[CallToolResult, shapes.Forgotten]:
        """Remove one record of the user for good, with everything made from it. Only when the user asks for it.

        Call it without confirm first and tell the user what would go.
        """
        self.reach.check_own(ref)
        shown = "" if confirm else render.quote_turns([self.reach.record(ref, PREVIEW_CHARS)])
        receipt = self.memory.purge(ref=ref, dry_run=not confirm)
        counts = _counts(receipt)
        forgotten = shapes.Forgotten(ref=ref, removed=confirm and receipt.records > 0, counts=counts)
        figures = ", ".join(f"{name} {count}" for name, count in counts.items())
        text = f"Removed for good: {figures}." if confirm else f"Would remove: {figures}. Nothing was changed.\n{shown}"
        return _answer(forgotten, text)

    def _facts_of(self, owner: str | None, asked: _Question) -> tuple[FactView, ...]:
        """The facts of one owner that answer a question, stale ones among them."""
        subject, predicate = asked.subject or None, asked.predicate or None
        if asked.history:
            return self.memory.facts_timeline(asked.subject, predicate, user_id=owner, limit=asked.limit).facts
        if asked.at:
            found = self.memory.facts_as_of(_moment(asked.at), subject, predicate, user_id=owner, limit=asked.limit)
        else:
            found = self.memory.facts_current(subject, predicate, user_id=owner, limit=asked.limit)
        return (*found.facts, *found.stale)

    def _session_of_nodes(self, session_id: str, ids: list[str]) -> str:
        """The named session, else that of the first whole reference, else that of this server."""
        ref = next((given for given in ids if Collection(given).kind in SESSION_KINDS and "/" in given), None)
        session = self.reach.session(session_id) if session_id or ref is None else self._session_of_node(ref)
        if session is None:
            raise InvalidInput("session_id is needed: the session the summary is of; or give its whole reference")
        return session

    def _session_of_node(self, ref: str) -> str | None:
        """Looks where summaries and turns stay for good: they may leave the active view of their session."""
        _, _, rest = ref.partition(":")
        for kind in ("session_summary", "session_raw"):
            with suppress(NotFound):
                return session_in(self.reach.record(f"{kind}:{rest}", max_chars=1).collection)
        raise NotFound(f"there is no record {ref[:200]!r}")


_READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
_ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
_REMOVES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)


def _report_errors(tool: Callable[P, CallToolResult]) -> Callable[P, CallToolResult]:
    """Makes the errors that Clew raises on purpose into answers that a model can read and act on."""

    @functools.wraps(tool)
    def guarded(*arguments: P.args, **named: P.kwargs) -> CallToolResult:
        try:
            return tool(*arguments, **named)
        except ClewError as error:
            return CallToolResult(content=[TextContent(type="text", text=error.message)], is_error=True)

    return guarded


def _answer(shape: shapes.Shape, text: str, notes: list[str] | None = None) -> CallToolResult:
    """The answer twice: as data, and as text for clients that show text alone."""
    readable = "\n".join(filter(None, (text, *(f"Note: {note}." for note in notes or ()))))
    return CallToolResult(
        content=[TextContent(type="text", text=readable)], structured_content=shape.model_dump(mode="json")
    )


def _node_id(session_id: str, given: str) -> str:
    """The id of a node of a session, from its id or its whole reference."""
    places = (Collection.session, Collection.raw, Collection.summaries)
    prefixes = (f"{place(session_id)}/" for place in places)
    return next((given.removeprefix(prefix) for prefix in prefixes if given.startswith(prefix)), given)


def _moment(text: str) -> int:
    """A day or a time, in UTC unless it says otherwise."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput(f"{text[:40]!r} is no date; write 2026-03-01 or 2026-03-01T09:30") from None
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


def _memory_id(text: str) -> str:
    """A hash of the text under the strictest redaction, so that it tells nothing of a secret."""
    return f"m_{digest('mcp', redact(text, Policy.PII).text, size_bytes=ID_BYTES).hex()}"


def _describe_memory(kept: shapes.Remembered) -> str:
    sentences = [f"{'Remembered' if kept.new else 'Known already'}: {kept.ref}."]
    if kept.redacted:
        sentences.append(f"Cut out before it was written: {', '.join(kept.redacted)}.")
    if kept.trust == Trust.QUARANTINED:
        sentences.append(
            "It reads like an attempt to steer its reader; it is not recalled until the operator releases it."
        )
    if kept.trust == Trust.UNTRUSTED:
        sentences.append(
            "It is found by search; packs leave it out until the user says the same or the operator confirms it."
        )
    return " ".join(sentences)


def _counts(receipt: PurgeReceipt) -> dict[str, int]:
    figures = msgspec.structs.asdict(receipt)
    return {
        name: count
        for name, count in figures.items()
        if isinstance(count, int) and not isinstance(count, bool) and count and name != "ts"
    }
