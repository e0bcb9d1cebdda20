"""The floor under recall: it keeps out texts that share neither words nor clear meaning with a question.

A search always has a best match, however far that is from the question. So before a text enters a pack or a context, it
is looked at by itself: the words it shares with the question, weighed by how rare they are, and how near it is in
meaning. Its surroundings, its session and its rivals count for nothing here. Where one text clearly bears on the
question, Clew also recalls texts that bear on it faintly: an answer is often worded less like the question than its
neighbours. Where none does, it recalls nothing. The figures were set with bench/off_topic.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

CLEAR = 0.53
"""A text at least this similar by its own words and meaning bears on the question."""

CLEAR_WITH_WORDS = 0.48
SOME_WORDS = 0.2
"""A text that holds this share of the question's words may be somewhat less similar: vectors of short texts lie near to
each other by chance, and words tell them apart."""

FAINT = 0.22
"""A text less similar than this does not, whatever its neighbours say."""

CLEAR_WORDS = 0.15
"""The same where meaning is not compared: the share of the question's words, weighed by rarity."""

MOST_WORDS = 0.5
"""A text that holds this share of the question's words is clear whatever it means. A text that holds a single one must
reach this share where meaning is not compared, since texts often share one word by chance."""


@dataclass(frozen=True, slots=True)
class Shared:
    """The words and meaning that a text by itself shares with a question."""

    similarity: float = 0.0
    """Of its own words and meaning, in [0, 1]."""
    lexical: float = 0.0
    """The share of the question's words that it holds, weighed by rarity."""
    words: int = 0
    """How many of them it holds."""
    by_meaning: bool = False
    """Whether its meaning was compared."""
    named: bool = False
    """Whether the question names who said it, or a past day it is about."""

    @property
    def is_clear(self) -> bool:
        """Whether it is enough by itself."""
        if self.by_meaning:
            needed = CLEAR_WITH_WORDS if self.lexical >= SOME_WORDS else CLEAR
            by_words = self.words > 1 and self.lexical >= MOST_WORDS
            return by_words or self.similarity >= (FAINT if self.named else needed)
        return self.lexical >= (CLEAR_WORDS if self.words > 1 or self.named else MOST_WORDS)

    @property
    def is_faint(self) -> bool:
        """Whether it is enough beside something that is clear. Words alone cannot tell: an answer may share none."""
        return self.similarity >= FAINT or not self.by_meaning


BY_NAME = Shared(similarity=1.0, lexical=1.0, named=True)
"""For a text that is reached from something the question names."""


def related(asked: str, shared: Sequence[Shared], may_lead: Sequence[bool]) -> list[bool]:
    """Which texts may be recalled for a question. Only those that may lead can make room for faint ones.

    A text that the reader sees already, or that only repeats the question, cannot lead. A question that looks back
    ("remind me", "what did we decide") asks for memories, however far its words are from theirs.
    """
    if asks_nothing(asked):
        return [False] * len(shared)
    led = looks_back(asked) or any(leads and one.is_clear for one, leads in zip(shared, may_lead, strict=True))
    return [one.is_clear or (led and one.is_faint) for one in shared]


# --- questions that look back, and texts that ask nothing ------------------------------------------

_BACK = re.compile(
    r"\b(?:remind me|(?:do|can) you (?:still )?(?:remember|recall)|i forgot|last time (?:i|we|you)|event happened first"
    r"|our (?:previous|last|earlier|first|old|chats?|conversations?|discussions?|sessions?)|(?:did|have|had) (?:i|we)"
    r"|(?:since|after|when|that|which) (?:i|we) (?:\w{2,20}ed|bought|got|went|made|took|saw|met|gave|told|said|did)"
    r"|(?:i|we) (?:said|told you|mentioned|discussed|decided|agreed|talked)"
    r"|you (?:said|told|mentioned|suggested|recommended|gave|wrote)"
    r"|erinner\w{0,3}|letztes mal|(?:haben wir|habe ich|hast du)|rappelle\w{0,2}|dernière fois|avons-nous|ai-je"
    r"|recuerdas?|la última vez)\b|上次|记得|覚えて|前回|지난번|기억",
    re.IGNORECASE,
)
_LOOKED_AT_CHARS = 4000


def looks_back(text: str) -> bool:
    """Whether a question speaks of what was said or done before."""
    return _BACK.search(text[:_LOOKED_AT_CHARS]) is not None


_PHRASES = (
    # English
    r"welcome back|good (?:morning|afternoon|evening|night|day|job|work|bye)|(?:and )?how (?:are|r) (?:you|u|ya|things)"
    r"|how(?:'s| is) (?:it|everything|life)(?: going)?|how do you do|how have you been|what(?:'s| is) (?:up|new)"
    r"|(?:it's |it is )?(?:so |very )?(?:nice|good|great) to (?:meet|see) you|take care|sleep well|talk to you"
    r"|see (?:you|ya)|have a (?:nice|good|great) (?:day|evening|night|weekend|one)|thank you|many thanks"
    r"|(?:much|i) appreciated?(?: (?:it|that))?|you're welcome|no (?:problem|worries)|excuse me|of course|got it|i see"
    r"|all right|well done|(?:sounds|looks|very|so|that's|that is) (?:good|great|nice|kind|fine|helpful|all)|of you"
    r"|so much|very much|a lot|and you|i'm (?:back|here|fine)|i am (?:back|here|fine)"
    # German, French, Spanish, Italian
    r"|grüß (?:gott|dich)|guten (?:morgen|tag|abend)|gute nacht|wie geht(?: es|'s|s)?(?: (?:dir|ihnen|euch))?"
    r"|vielen dank|auf wiedersehen|bis (?:bald|morgen|später)|bonne (?:nuit|journée|soirée)|(?:comment )?ça va"
    r"|comment (?:allez[ -]vous|vas[ -]tu)|s'il (?:vous|te) plaît|au revoir|à (?:bientôt|demain)|de rien"
    r"|buenos días|buenas (?:tardes|noches)|qué tal|cómo estás?|por favor|hasta luego|come (?:stai|va)|per favore"
    # Korean, Russian
    r"|안녕히 (?:가|계)세요|잘 지내(?:세요|요)?|доброе утро|добрый (?:день|вечер)|спокойной ночи|как дела|до свидания"
)
_WORDS = (
    r"hi|hiya|hello|hey|heya|howdy|yo|sup|greetings|welcome|morning|evening|bye|goodbye|farewell|cheers|later|thanks"
    r"|thank|thx|ty|np|sorry|please|pls|ok|okay|k|yes|yeah|yep|yup|no|nope|sure|right|exactly|understood|alright|fine"
    r"|done|great|nice|cool|perfect|awesome|excellent|wonderful|amazing|wow|good|lovely|super|lgtm|haha|lol|hmm|oh|ah"
    r"|everyone|everybody|all|friend|again|there|today|tomorrow|soon|now|then|too|doing|going|feeling"
    r"|hallo|moin|servus|danke|bitte|schön|sehr|tschüss|ja|nein|genau|gut|heute|bonjour|salut|bonsoir|merci|beaucoup"
    r"|oui|non|d'accord|bien|hola|gracias|muchas|adiós|sí|vale|ciao|buongiorno|buonasera|buonanotte|grazie|mille|prego"
    r"|arrivederci|sì|你好[吗嗎啊呀]?|[您早]|您好|大家好|嗨|早上好|早安|下午好|晚上好|晚安|谢谢[你您]?|謝謝[你您]?|多谢|再见|再見"
    r"|拜拜|你怎么样|最近怎么样|好的?|是的?|嗯|行|可以|没问题|明白了?|知道了|こんにちは|こんばんは|おはよう|おはようございます"
    r"|おやすみ|おやすみなさい|ありがとう|ありがとうございます|さようなら|はい|元気ですか|안녕|안녕하세요|감사합니다|고마워요?|네"
    r"|привет|здравствуйте?|спасибо|большое|пока|да|нет"
)
_COURTESY_CHARS = 200
# Phrases before words, and no backtracking: one pass over a text is enough.
_COURTESY = re.compile(rf"\W*+(?>(?:{_PHRASES}|{_WORDS})(?:\W++|$))*+", re.IGNORECASE)


def asks_nothing(text: str) -> bool:
    """Whether a text is made of nothing but greetings, thanks and the like, so that nothing can bear on it."""
    said = text[: _COURTESY_CHARS + 1].replace("’", "'")
    return 0 < len(said) <= _COURTESY_CHARS and _COURTESY.fullmatch(said) is not None
