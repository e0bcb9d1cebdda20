"""Conversation texts that nobody wrote: the same ones on every machine, at any size.

A text is one to three sentences from templates, filled from a vocabulary whose frequencies fall as
they do in natural language: few words everywhere, most words rare. The head of the vocabulary is
plain words; its tail is made of syllables and stands for the names and terms of real projects.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import accumulate, product

FIRST_TS_MS = 1_700_000_000_000
TURN_GAP_MS = 45_000

_PLAIN_WORDS = """
    server database release meeting budget customer report deadline invoice contract travel hotel flight garden
    kitchen recipe doctor school teacher birthday holiday weekend concert ticket camera laptop battery screen
    keyboard network router password backup migration schema index query cache worker queue latency memory disk
    cluster region container image pipeline branch commit review merge rollback incident alert dashboard metric
    trace logging feature experiment survey interview candidate salary office apartment landlord mortgage insurance
    bicycle marathon training muscle breakfast dinner coffee chocolate allergy medicine appointment dentist puppy
    painting museum novel library chapter poem guitar melody festival theatre documentary season episode
    proposal estimate supplier warehouse shipment delivery refund subscription payment account statement
    translation keynote workshop conference speaker agenda minutes decision option risk assumption constraint
    prototype design colour layout typeface button banner animation tutorial manual glossary reference
""".split()
_STARTS = "ba be bo bri ca ce cor da del dra el fa fen gal go hal in jor ka kel lor ma mi nor ola pa quin ra".split()
_MIDDLES = "ra ven to li mon dar se ru ni pal ter go".split()
_ENDS = "dex lin mar tis rok vane sol que mund ta rish nor by ton wick gard".split()
_NAMES = (
    "Ada Bruno Chen Dalia Emeka Farah Goran Hana Ivo Jun Kira Luca Mina Noor Otto Priya Ravi Sofia Tomas Uma".split()
)
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()

_SENTENCES = (
    "I talked to {name} about the {0} and we agreed to move the {1} to {day}.",
    "Could you remind me why the {0} depends on the {1}?",
    "The {0} failed again last night, {1} was at {number} percent and the {2} never came back.",
    "Let's keep the {0} as it is until the {1} is finished.",
    "My {0} is on {day}, so please put the {1} somewhere else.",
    "For the {0} I would rather use {1} than {2}, it costs about {number} less.",
    "{name} says that the {0} needs a new {1} before {day}.",
    "We decided against the {0} because the {1} takes {number} minutes and breaks the {2}.",
    "I have never liked {0}, but the {1} from {name} was really good.",
    "Here is what I found: {0}, {1}, {2} and {3} all point at the same {4}.",
    "Remember that {name} is allergic to {0} and prefers {1}.",
    "After the {0} we went to see the {1}, and {name} bought {number} of them.",
    "The first step is {0}, then {1}, and only after that the {2}.",
    "If the {0} is larger than {number}, the {1} must be split into {2} and {3}.",
    "Thanks, that {0} works now; what is left is the {1}.",
    "It turned out that {0} and {1} were never tested together with {2}.",
)
_QUESTIONS = (
    "what did we decide about the {0} and the {1}?",
    "when is the {0} with {1} and {2}?",
    "why does the {0} need {1}?",
    "who mentioned {0}, {1} or {2}?",
    "{0} {1} {2} {3}",
)
_TOPICS_PER_SENTENCE = 5
_MOST_SENTENCES = 3


@dataclass(frozen=True, slots=True)
class Record:
    number: int
    collection: str
    text: str

    @property
    def id(self) -> str:
        return f"record-{self.number}"

    @property
    def ts_ms(self) -> int:
        return FIRST_TS_MS + self.number * TURN_GAP_MS


@dataclass(frozen=True, slots=True)
class Question:
    """A question about one record, put to that record's collection."""

    collection: str
    text: str


def make_records(first: int, count: int, collections: int) -> list[Record]:
    """Records by number, dealt out to the collections in turn."""
    return [
        Record(number, f"user:{number % collections}", _text(random.Random(number)))
        for number in range(first, first + count)
    ]


def make_questions(count: int, size: int, collections: int) -> list[Question]:
    """Questions about records spread over a store of this size."""
    chance = random.Random(f"questions {size} {collections}")
    return [_question(chance, make_records(chance.randrange(size), 1, collections)[0]) for _ in range(count)]


def _question(chance: random.Random, about: Record) -> Question:
    topics = _topics(random.Random(about.number))
    return Question(about.collection, chance.choice(_QUESTIONS).format(*topics))


def _text(chance: random.Random) -> str:
    topics = iter(_topics(chance))
    return " ".join(
        template.format(
            *(next(topics) for _ in range(_TOPICS_PER_SENTENCE)),
            name=chance.choice(_NAMES),
            day=chance.choice(_DAYS),
            number=chance.randrange(2, 900),
        )
        for template in chance.choices(_SENTENCES, k=chance.randint(1, _MOST_SENTENCES))
    )


def _topics(chance: random.Random) -> list[str]:
    """What a text is about; drawn first, so that they can be drawn again for a question."""
    return chance.choices(_VOCABULARY, cum_weights=_CUMULATIVE_WEIGHTS, k=_TOPICS_PER_SENTENCE * _MOST_SENTENCES)


def _vocabulary() -> list[str]:
    """Plain words first, then two- and three-syllable ones in an order without pattern."""
    made = [
        *map("".join, product(_STARTS, _ENDS)),
        *map("".join, product(_STARTS, _MIDDLES, _ENDS)),
        *map("".join, product(_STARTS, _MIDDLES, _MIDDLES, _ENDS)),
    ]
    random.Random("vocabulary").shuffle(made)
    return [*dict.fromkeys(_PLAIN_WORDS), *dict.fromkeys(made)]


_VOCABULARY = _vocabulary()
_CUMULATIVE_WEIGHTS = list(accumulate((rank + 3.0) ** -1.1 for rank in range(len(_VOCABULARY))))
