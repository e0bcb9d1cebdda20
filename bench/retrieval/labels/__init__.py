"""Questions written by hand about data that is not part of Clew, and the turns of that data that answer them.

Each file of questions begins with the name and the SHA-256 of the one data file it speaks of, since a label says
nothing about any other. A turn is evidence where it gives what is asked for; every such turn that was found is named,
as often as the same thing was said or read. Some answers in talk are plain only beside the turn before them.

Each question is of one of three kinds. An `identifier` question holds a name, a number or a message as it stands in the
answer. A `paraphrase` asks in other words than the answer's, as far as a person would who remembers the matter and not
the wording. A `mixed` one has some word or name in common with the answer and asks the rest in other words.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from bench.retrieval.corpus import Question
from clew.errors import InvalidInput

Kind = Literal["identifier", "paraphrase", "mixed"]


def questions_about(path: Path, subject: str, names: Mapping[str, str]) -> tuple[Question, ...]:
    """The questions of one label file about the data file at the path.

    `names` gives, for the place by which a label knows a turn, the name of that turn in the corpus. Raises InvalidInput
    where the data is not the file that the questions were written for.
    """
    first, *rest = resources.files(__package__).joinpath(f"{subject}.jsonl").read_bytes().splitlines()
    source = msgspec.json.decode(first, type=_Source)
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != source.sha256:
        raise InvalidInput(
            f"{path} is not the {source.file} that the questions were written for: "
            f"its SHA-256 is {found}, theirs is {source.sha256}"
        )
    labels = [msgspec.json.decode(line, type=_Label) for line in rest]
    return tuple(
        Question(f"q{number}", label.question, label.kind, frozenset(names[place] for place in label.evidence))
        for number, label in enumerate(labels, 1)
    )


class _Source(Struct, frozen=True, forbid_unknown_fields=True):
    file: str
    sha256: str


class _Label(Struct, frozen=True, forbid_unknown_fields=True):
    question: str
    kind: Kind
    evidence: list[str]
