"""The decisions about a context, and the receipt that says what each section was allowed, took and left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count

from clew.core.budget import Allocation
from clew.core.collections import Collection
from clew.features.authored.service import Shelf
from clew.features.context.guided import Guided
from clew.features.context.operations import Context, LeftOut, Section
from clew.features.history.operations import ContextMessage
from clew.features.history.tail import Tail
from clew.features.history.turns import MESSAGE_OVERHEAD_TOKENS
from clew.kernel.parts import Parts
from clew.kernel.quoting import line_tokens, quote_line
from clew.kernel.search import Found, hit
from clew.text.framing import GUIDANCE_CLOSE, GUIDANCE_OPEN, frame, line

MAX_LEFT_OUT = 50
"""Of one section, in a receipt."""


def frame_tokens(parts: Parts, opening: str, closing: str) -> int:
    """The tokens of a frame without its content."""
    return line_tokens(parts, opening) + parts.counter.bound(closing) + MESSAGE_OVERHEAD_TOKENS


@dataclass(frozen=True, slots=True)
class Recalled:
    found: tuple[Found, ...] = ()
    text: str = ""
    tokens: int = 0
    left_out: tuple[LeftOut, ...] = ()


@dataclass(frozen=True, slots=True)
class ObservedBlock:
    """The part of the observation log that a context shows."""

    text: str = ""
    tokens: int = 0
    allowed: int = 0
    refs: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


@dataclass(frozen=True, slots=True)
class Assembly:
    """Everything that was decided about one context."""

    session_id: str
    shelf: Shelf
    messages: tuple[ContextMessage, ...]
    """The turns of the tail."""
    stored_ids: frozenset[str]
    """Those of them that are in the session's history."""
    tail: Tail
    allocation: Allocation
    guided: Guided
    now_ms: int
    recalled: Recalled | None = None
    """None where nothing is to be recalled."""
    observed: ObservedBlock | None = None
    """None where the observation log is not asked for."""

    @property
    def guidance(self) -> list[Found]:
        """The guidance that has room, of all that holds."""
        return [self.guided.found[place] for place in self.allocation.guidance.taken]

    def answer(self, degraded: Iterable[str]) -> Context:
        parts = (self._hard(), self._soft(), self._observed(), self._tail(), self._guidance(), self._recalled())
        sections = tuple(section for section in parts if section is not None)
        recalled = self.recalled or Recalled()
        soft = [self.shelf.soft[place] for place in self.allocation.soft.taken]
        guidance = [quote_line(item.record, self.now_ms) for item in self.guidance]
        return Context(
            messages=self.messages,
            authored_text="\n".join(piece.text.rstrip("\r\n") for piece in (*self.shelf.hard, *soft)),
            guidance_text=frame(list(map(line, guidance, count(1))), GUIDANCE_OPEN, GUIDANCE_CLOSE),
            guidance=tuple(map(hit, self.guidance)),
            recalled_text=recalled.text,
            recalled=tuple(map(hit, recalled.found)),
            observations_text=self.observed.text if self.observed else "",
            sections=sections,
            budget_tokens=self.allocation.total,
            used_tokens=sum(section.used_tokens for section in sections),
            degraded=tuple(degraded),
        )

    def _hard(self) -> Section:
        refs = [piece.ref for piece in self.shelf.hard]
        return _section("hard", refs, allowed=self.allocation.hard, used=self.allocation.hard)

    def _soft(self) -> Section:
        grant = self.allocation.soft
        refs = [self.shelf.soft[place].ref for place in grant.taken]
        cut = [LeftOut(ref=piece.ref, reason="over the soft budget") for piece in self.shelf.soft[len(refs) :]]
        return _section("soft", refs, allowed=grant.allowed, used=grant.used, left_out=cut)

    def _observed(self) -> Section | None:
        found = self.observed
        if found is None:
            return None
        return _section("observations", found.refs, allowed=found.allowed, used=found.tokens, left_out=found.left_out)

    def _tail(self) -> Section:
        """Older turns are not listed one by one: recall is for all of them."""
        raw = Collection.raw(self.session_id)
        allowed = self.allocation.base + self.allocation.extension.allowed
        refs = [f"{raw}/{message.id}" for message in self.messages if message.id in self.stored_ids]
        return _section("tail", refs, allowed=allowed, used=self.tail.tokens, items=len(self.messages))

    def _guidance(self) -> Section:
        grant = self.allocation.guidance
        refs = [item.ref for item in self.guidance]
        cut = [item.ref for item in self.guided.found if item.ref not in refs]
        left_out = [LeftOut(ref=ref, reason="over the guidance budget") for ref in cut]
        left_out += self.guided.replaced
        return _section("guidance", refs, allowed=grant.allowed, used=grant.used, left_out=left_out)

    def _recalled(self) -> Section | None:
        found = self.recalled
        if found is None:
            return None
        refs = [item.ref for item in found.found]
        allowed = self.allocation.recall
        return _section("recalled", refs, allowed=allowed, used=found.tokens, left_out=found.left_out)


def _section(
    name: str,
    refs: Sequence[str],
    *,
    allowed: int,
    used: int,
    left_out: Sequence[LeftOut] = (),
    items: int | None = None,
) -> Section:
    return Section(
        name=name,
        budget_tokens=allowed,
        used_tokens=used,
        items=len(refs) if items is None else items,
        refs=tuple(refs),
        left_out=tuple(left_out[:MAX_LEFT_OUT]),
    )
