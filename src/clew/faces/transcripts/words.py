"""Splits words in the user's name into turns: the user's own, and the words of others with their source."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from clew.api import JsonObject, Message
from clew.core.model import Role, role_of
from clew.text import speakers


@dataclass(frozen=True, slots=True)
class Part:
    """One turn of a line."""

    role: str
    text: str
    call_id: str | None = None
    source: str | None = None
    metadata: JsonObject = field(default_factory=dict)


def foreign_part(text: str, writer: str, host: str) -> Part:
    """A turn in the user's name that the user did not write."""
    return Part("user", text, source=f"{host}:{writer}")


def command_output(text: str) -> Part | None:
    """The output of a command; None where the text is something else."""
    words = speakers.printed(text)
    return None if words is None else _part(words, "")


def parts_of(blocks: Iterable[str], host: str, *, one_writer_each: bool = False) -> list[Part]:
    """The turns of blocks in the user's name: the typed words as one, then those of others, by their writer."""
    return [_part(words, host) for words in speakers.words_of(blocks, one_writer_each=one_writer_each)]


def split_writers(message: Message, host: str) -> list[Message]:
    """A message as one turn for each of its writers; unchanged where there is one writer."""
    is_users = role_of(message.role) is Role.USER and message.source is None and message.tool_call_id is None
    if not is_users or speakers.other_writer(message.text) is None:
        return [message]
    return [
        msgspec.structs.replace(
            message,
            role=part.role,
            text=part.text,
            source=part.source,
            id=f"{message.id}:{place}" if place and message.id is not None else message.id,
            metadata=message.metadata | part.metadata,
        )
        for place, part in enumerate(parts_of([message.text], host))
    ]


def _part(words: speakers.Words, host: str) -> Part:
    if words.tool is not None:
        return Part("tool", words.text, metadata={"toolName": words.tool})
    return Part("user", words.text) if words.writer is None else foreign_part(words.text, words.writer, host)
