"""The operations of contexts."""

from __future__ import annotations

from typing import ClassVar

from clew.core.operation import Answer, Request
from clew.features.history.operations import ContextMessage
from clew.kernel.operations import Hit, Message


class LeftOut(Answer, frozen=True):
    """Something that could have been in a context and is not, and why."""

    ref: str
    """Where it is stored, as `collection/id`."""
    reason: str
    """Why it is not in the context."""


class Section(Answer, frozen=True):
    """One part of a context: what it was allowed and what it took, in tokens, and what that is."""

    name: str
    """`hard`, `soft`, `tail`, `guidance` or `recalled`."""
    budget_tokens: int
    """Tokens it was allowed."""
    used_tokens: int
    """Tokens it took."""
    items: int
    """Turns or records in it."""
    refs: tuple[str, ...] = ()
    """Where each item is stored, as `collection/id`; a message that was given and never stored has none."""
    left_out: tuple[LeftOut, ...] = ()
    """Items that have no place in it, at most 50."""


class Context(Answer, frozen=True):
    """A bounded context: what the operator wrote, the recent tail exactly as it was, guidance and recall as data."""

    messages: tuple[ContextMessage, ...]
    """The tail, word for word, oldest first."""
    authored_text: str
    """Authored rules, word for word; meant for the system message, as guidance and recall never are."""
    guidance_text: str
    """Rules that the user gave earlier, as far as they fit, framed; empty when there are none."""
    guidance: tuple[Hit, ...]
    """The turns of the guidance, in the order of the numbered lines of its text: what holds for any task, then the
    nearest."""
    recalled_text: str
    """The framed recall; empty when nothing was recalled."""
    recalled: tuple[Hit, ...]
    """The records of the recall, best first: in the order of its numbered lines, so a citation finds its record."""
    sections: tuple[Section, ...]
    """Where the budget went."""
    budget_tokens: int
    """Tokens it was allowed."""
    used_tokens: int
    """Tokens it takes, counted on the safe side."""
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""
    observations_text: str = ""
    """The observation log, framed; it comes before the tail, and is the same bytes until the observer runs again."""

    def as_messages(self) -> list[dict[str, str]]:
        """The whole context in the plain shape chat APIs take.

        Guidance and recall come last and in the user's name: what was said once must not speak with a
        system's voice.
        """
        authored = [{"role": "system", "content": self.authored_text}] if self.authored_text else []
        log = [{"role": "user", "content": self.observations_text}] if self.observations_text else []
        tail = [{"role": message.role, "content": message.text} for message in self.messages]
        quoted = [{"role": "user", "content": text} for text in (self.guidance_text, self.recalled_text) if text]
        return authored + log + tail + quoted


class Assemble(Request[Context], frozen=True):
    """The context for the next model call, never over the budget.

    With `messages`, the tail is taken from them; otherwise from the stored session.

    Leaves out messages that a summary of the session covers, by their ids, beyond those the tail needs.
    """

    method: ClassVar[str] = "assemble"
    session_id: str
    """The running session; gives the tail."""
    query: str | None = None
    """What to recall for; else the newest turn of the user in the tail."""
    messages: tuple[Message, ...] | None = None
    """Turns, oldest first."""
    budget_tokens: int | None = None
    """Size of the context, from 64; else the setting `budget_tokens`."""
    limit_tokens: int | None = None
    """A bound in tokens that is lower than the budget for now. Recall gives way first, then the
    tail down to its base."""
    user_id: str | None = None
    """Recall this user's memories and turns, too."""
    project: str | None = None
    """The project that the work is for: the address of its repository, or its name. Clew recalls what is of another
    project behind the rest, and only where it clearly bears on the query."""
    since: int | None = None
    """When this conversation began, in milliseconds since the epoch. Summaries of older turns are recalled only where
    they answer the query. Without it, a stored session counts as a whole, and given messages as all there is."""
    mode: str = "recall"
    """What a context knows of the past beyond the tail: `recall`, the session's `observations`, or `both`. With
    observations, the tail is all that was not observed yet, and Clew observes first what it has no room for."""
