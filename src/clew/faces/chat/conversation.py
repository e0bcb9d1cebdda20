"""The loop itself: what is said goes to memory, what memory gives goes to the model, and the reply goes back."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from typing import Any, Self, TypeVar

from clew.api import Context, MemoryApi, Message
from clew.core.identity import session_raw
from clew.errors import ClewError
from clew.faces.chat.keeper import Keeper
from clew.faces.chat.messages import (
    ChatMessage,
    Reply,
    ToolCall,
    acceptable,
    before_question,
    read_reply,
    rebuilt,
    recent,
)
from clew.faces.transcripts.blocks import describe_call
from clew.text.cutting import cut_end

DEADLINE_MS = 2000
COMPACT_EVERY_TURNS = 20
TEXT_BYTES = 200_000
"""A longer text is kept cut, so that it can always be sent; the model is given it whole."""
ARGUMENT_CHARS = 20_000
"""Longer arguments of a tool call are not kept for the model to see again in another process."""

Complete = Callable[[list[ChatMessage]], Any]
T = TypeVar("T")


class Chat:
    """One conversation of one user. For one thread at a time.

    `memory` may be a function that opens one, such as `connect`; it is called when it is first needed, and again until
    it succeeds. `instructions` are sent before everything else, on top of the budget. Where the user is None, nothing
    is remembered beyond the session.
    """

    def __init__(
        self,
        memory: MemoryApi | Callable[[], MemoryApi],
        *,
        session_id: str,
        user_id: str | None,
        complete: Complete,
        instructions: str = "",
        budget_tokens: int | None = None,
        deadline_ms: int = DEADLINE_MS,
        compact_every_turns: int = COMPACT_EVERY_TURNS,
    ) -> None:
        self.session_id = session_id
        self.user_id = user_id
        self.degraded: tuple[str, ...] = ()
        """Why the last turn went without memory, or without all of it; empty when it did not."""
        self._complete = complete
        self._instructions = instructions
        self._budget_tokens = budget_tokens
        self._keeper = Keeper(memory, session_id=session_id, user_id=user_id, deadline_ms=deadline_ms)
        self._said: dict[str, ChatMessage] = {}
        """What was said here and may be shown again, as it was said, by the ids of the turns."""
        self._rules = ""
        self._compact_every_turns = compact_every_turns
        self._turns_since_compaction = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, text: str | None = None) -> Reply:
        """Say something and get the reply. Without a text, the model goes on, as after the results of its tools."""
        self.degraded = ()
        if text is not None:
            self._say({"role": "user", "content": text}, role="user", text=text)
        reply = read_reply(self._complete(self._messages()))
        self._say_reply(reply)
        self._try(self._keeper.flush)
        self.degraded = tuple(dict.fromkeys(self.degraded))
        self._compact_now_and_then()
        return reply

    def add(self, tool_call_id: str, result: str, *, tool: str = "tool") -> None:
        """Give the result of a tool that the last reply called; `send()` then lets the model go on."""
        shown = {"role": "tool", "tool_call_id": tool_call_id, "content": result}
        self._say(shown, role="tool", text=result, tool_call_id=tool_call_id, metadata={"toolName": tool})

    def close(self) -> None:
        """Keep what still waits, if memory is there, and close it if it was opened here."""
        self._keeper.wait()
        self._try(self._keeper.flush)
        self._keeper.close()

    def _say_reply(self, reply: Reply) -> None:
        """Tool calls are kept in words, to be found by, and as they are, to be shown again."""
        described = [describe_call(call.name, call.parsed_arguments()) for call in reply.tool_calls]
        calls = [
            {"id": call.id, "name": call.name, "arguments": call.arguments}
            for call in reply.tool_calls
            if len(call.arguments) <= ARGUMENT_CHARS
        ]
        self._say(
            reply.shown(),
            role="assistant",
            text="\n\n".join(part for part in (reply.text, *described) if part),
            tool_call_ids=tuple(call.id for call in reply.tool_calls),
            metadata={"toolCalls": calls} if calls else {},
        )

    def _say(self, shown: ChatMessage, *, text: str, **turn: Any) -> None:
        id_ = uuid.uuid4().hex
        self._said[id_] = shown
        self._turns_since_compaction += 1
        kept = cut_end(text.encode("utf-8", "replace").decode("utf-8"), TEXT_BYTES)
        self._keeper.add(Message(text=kept, id=id_, ts=time.time_ns() // 1_000_000, **turn))

    def _messages(self) -> list[ChatMessage]:
        """What the model is to see: the assembled context, or what was said here where there is none."""
        assembled = self._try(self._assemble)
        if assembled is None:
            return [*self._system(), *acceptable(recent(list(self._said.values())))]
        context, calls = assembled
        self.degraded += context.degraded
        self._rules = context.authored_text
        turns = [(turn.id or "", turn) for turn in context.messages]
        shown = [self._said.get(id_) or rebuilt(turn, calls.get(id_, ())) for id_, turn in turns]
        unkept = self._forget_all_but({id_ for id_, _ in turns})
        quoted = [{"role": "user", "content": text} for text in (context.guidance_text, context.recalled_text) if text]
        return [*self._system(), *before_question(quoted, acceptable([*shown, *unkept]))]

    def _system(self) -> list[ChatMessage]:
        text = "\n\n".join(part for part in (self._instructions, self._rules) if part)
        return [{"role": "system", "content": text}] if text else []

    def _assemble(self, memory: MemoryApi) -> tuple[Context, dict[str, tuple[ToolCall, ...]]]:
        """The context, and the tool calls of those of its turns that were said in another process."""
        self._keeper.flush(memory)
        context = memory.assemble(self.session_id, user_id=self.user_id, budget_tokens=self._budget_tokens)
        unknown = [turn.id for turn in context.messages if turn.tool_call_ids and turn.id and turn.id not in self._said]
        records = memory.get(session_raw(self.session_id), *unknown).records if unknown else ()
        return context, {record.id: _kept_calls(record.metadata.get("toolCalls")) for record in records}

    def _compact_now_and_then(self) -> None:
        """Beside the conversation, since nothing waits for it."""
        if self._turns_since_compaction >= self._compact_every_turns:
            self._turns_since_compaction = 0
            self._keeper.start(lambda memory: memory.compact(self.session_id, budget_tokens=self._budget_tokens))

    def _forget_all_but(self, ids: set[str | None]) -> list[ChatMessage]:
        """Drops what the store has and the context no longer holds; gives what came after and was not kept."""
        places = [place for place, id_ in enumerate(self._said) if id_ in ids]
        after = max(places, default=-1)
        self._said = {
            id_: shown for place, (id_, shown) in enumerate(self._said.items()) if id_ in ids or place > after
        }
        return [shown for id_, shown in self._said.items() if id_ not in ids]

    def _try(self, work: Callable[[MemoryApi], T]) -> T | None:
        try:
            return self._keeper.run(work)
        except ClewError as error:
            self.degraded += (error.message,)
            return None
        finally:
            self.degraded += self._keeper.troubles()


def _kept_calls(calls: Any) -> tuple[ToolCall, ...]:
    """The tool calls that a turn of another process made, as far as they were kept."""
    if not isinstance(calls, list):
        return ()
    fields = [(call.get("id"), call.get("name"), call.get("arguments")) for call in calls if isinstance(call, dict)]
    return tuple(
        ToolCall(id_, name, arguments)
        for id_, name, arguments in fields
        if isinstance(id_, str) and isinstance(name, str) and isinstance(arguments, str)
    )
