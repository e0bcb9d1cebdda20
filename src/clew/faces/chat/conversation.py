"""The loop itself: it sends turns to memory, a context to the model, and the reply back."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from typing import Any, Self, TypeVar

from clew.api import Context, MemoryApi, Message
from clew.core.collections import Collection
from clew.errors import ClewError
from clew.faces.chat.keeper import Keeper
from clew.faces.chat.messages import (
    ChatMessage,
    Reply,
    ToolCall,
    insert_before_question,
    newest_messages,
    pair_tool_calls,
    read_reply,
    rebuild_message,
)
from clew.text.calls import render_call
from clew.text.cutting import cut_end

DEADLINE_MS = 2000
COMPACT_EVERY_TURNS = 20
TEXT_BYTES = 200_000
"""Clew keeps a longer text cut, so that it fits a request; the model gets all of it."""
ARGUMENT_CHARS = 20_000
"""Clew does not keep longer arguments of a tool call for the model to see in another process."""

Complete = Callable[[list[ChatMessage]], Any]
T = TypeVar("T")


class Chat:
    """One conversation of one user. For one thread at a time.

    `memory` may be a function that opens one, such as `connect`; Clew calls it at the first need, and again until it
    succeeds. `instructions` come before everything else and do not count towards the budget. Where the user is None,
    Clew remembers nothing beyond the session.
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
        """Why the last turn had no memory, or only a part of it; empty where it had all."""
        self._complete = complete
        self._instructions = instructions
        self._budget_tokens = budget_tokens
        self._keeper = Keeper(memory, session_id=session_id, user_id=user_id, deadline_ms=deadline_ms)
        self._said: dict[str, ChatMessage] = {}
        """Messages of this process that the model may see again, by the ids of their turns."""
        self._rules = ""
        self._compact_every_turns = compact_every_turns
        self._turns_since_compaction = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, text: str | None = None) -> Reply:
        """Sends a text and gives the reply. Without a text, the model goes on, as after the results of its tools."""
        self.degraded = ()
        if text is not None:
            self._say({"role": "user", "content": text}, role="user", text=text)
        reply = read_reply(self._complete(self._messages()))
        self._say_reply(reply)
        self._try(self._keeper.flush)
        self.degraded = tuple(dict.fromkeys(self.degraded))
        self._compact_if_due()
        return reply

    def add(self, tool_call_id: str, result: str, *, tool: str = "tool") -> None:
        """Adds the result of a tool that the last reply called; `send()` then lets the model go on."""
        shown = {"role": "tool", "tool_call_id": tool_call_id, "content": result}
        self._say(shown, role="tool", text=result, tool_call_id=tool_call_id, metadata={"toolName": tool})

    def close(self) -> None:
        """Keeps the turns that still wait, if memory answers, and closes a memory that it opened."""
        self._keeper.wait()
        self._try(self._keeper.flush)
        self._keeper.close()

    def _say_reply(self, reply: Reply) -> None:
        """Keeps tool calls as words, for search, and as data, for the model in another process."""
        described = [render_call(call.name, call.parsed_arguments()) for call in reply.tool_calls]
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
        """The messages for the model: the assembled context, or the turns of this process where there is none."""
        assembled = self._try(self._assemble)
        if assembled is None:
            return [*self._system(), *pair_tool_calls(newest_messages(list(self._said.values())))]
        context, calls = assembled
        self.degraded += context.degraded
        self._rules = context.authored_text
        turns = [(turn.id or "", turn) for turn in context.messages]
        shown = [self._said.get(id_) or rebuild_message(turn, calls.get(id_, ())) for id_, turn in turns]
        unkept = self._forget_all_but({id_ for id_, _ in turns})
        quoted = [{"role": "user", "content": text} for text in (context.guidance_text, context.recalled_text) if text]
        return [*self._system(), *insert_before_question(quoted, pair_tool_calls([*shown, *unkept]))]

    def _system(self) -> list[ChatMessage]:
        text = "\n\n".join(part for part in (self._instructions, self._rules) if part)
        return [{"role": "system", "content": text}] if text else []

    def _assemble(self, memory: MemoryApi) -> tuple[Context, dict[str, tuple[ToolCall, ...]]]:
        """The context, and the tool calls of those of its turns that come from another process."""
        self._keeper.flush(memory)
        context = memory.assemble(self.session_id, user_id=self.user_id, budget_tokens=self._budget_tokens)
        unknown = [turn.id for turn in context.messages if turn.tool_call_ids and turn.id and turn.id not in self._said]
        records = memory.get(Collection.raw(self.session_id), *unknown).records if unknown else ()
        return context, {record.id: _read_calls(record.metadata.get("toolCalls")) for record in records}

    def _compact_if_due(self) -> None:
        """Compacts beside the conversation, since nothing waits for it."""
        if self._turns_since_compaction >= self._compact_every_turns:
            self._turns_since_compaction = 0
            self._keeper.start(lambda memory: memory.compact(self.session_id, budget_tokens=self._budget_tokens))

    def _forget_all_but(self, ids: set[str | None]) -> list[ChatMessage]:
        """Drops messages that the store has and the context no longer holds; gives the later ones that are not kept."""
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


def _read_calls(calls: Any) -> tuple[ToolCall, ...]:
    """The tool calls of a turn from another process, as far as Clew kept them."""
    if not isinstance(calls, list):
        return ()
    fields = [(call.get("id"), call.get("name"), call.get("arguments")) for call in calls if isinstance(call, dict)]
    return tuple(
        ToolCall(id_, name, arguments)
        for id_, name, arguments in fields
        if isinstance(id_, str) and isinstance(name, str) and isinstance(arguments, str)
    )
