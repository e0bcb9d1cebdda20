"""Talk between two strangers in Chinese, Japanese and Korean: one corpus a language, one session a dialogue.

The dialogues name no speakers and no dates. The published files also give sentences that describe one of the two, but
not where in the dialogue these are said, if they are; so they are no questions here.
"""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from bench.retrieval.corpus import Corpus, Turn
from bench.retrieval.files import read_json
from bench.retrieval.labels import questions_about

FILES = {
    "zh": "Zh_persona_split_valid_human_annotated.json.gz",
    "ja": "Jp_persona_split_valid_human_annotated.json.gz",
    "ko": "Ko_persona_split_valid_human_annotated.json.gz",
}
DIALOGUES = 80
"""How many of each file are taken, from its beginning: those in which other answers to a question were looked for."""


def read(path: Path) -> list[Corpus]:
    """The corpora of the three files in the folder, each under the code of its language."""
    return [_corpus(path / file, language) for language, file in FILES.items()]


class _Dialogue(Struct):
    dialogue: list[tuple[str, str]]


def _corpus(path: Path, language: str) -> Corpus:
    turns: list[Turn] = []
    names: dict[str, str] = {}
    for place, given in enumerate(read_json(path, list[_Dialogue])[:DIALOGUES]):
        for number, text in enumerate(text for pair in given.dialogue for text in pair):
            name = names[f"{place}:{number}"] = f"t{len(turns) + 1}"
            turns.append(Turn(name, f"s{place + 1}", "user", None, text, None))  # two people, neither an assistant
    return Corpus(language, tuple(turns), questions_about(path, language, names))
