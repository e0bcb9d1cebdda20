"""How plain English says what holds: one rule a way of saying it, each read from the beginning of a clause.

A rule that speaks for the speaker has `I`, `we` or `my` in it; the others name their subject. Repetition is bounded,
and a clause is short, so that no text takes long.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

FIRM, LIKELY = 0.9, 0.7
"""How sure a way of saying it is."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What a clause that matches says: groups `subject`, `of` and `object` are the parts of it."""

    predicate: str
    pattern: re.Pattern[str]
    subject: str = ""
    """Whose it is, where no group names it: `{me}` is the speaker, `{of}` what the group holds."""
    object: str = "{object}"
    confidence: float = FIRM
    personal: bool = False
    """Whether it is about the one who speaks, which only a person's own turn can be."""


def rule(
    predicate: str,
    pattern: str,
    subject: str = "",
    object_: str = "{object}",
    confidence: float = FIRM,
) -> Rule:
    return Rule(predicate, re.compile(pattern, re.IGNORECASE), subject, object_, confidence, personal="{me}" in subject)


# --- parts of a clause ---------------------------------------------------------------------------------

ALREADY = r"(?:(?:just|now|also|currently|already|still|recently|finally|really|actually|officially|even) ){0,3}"
OFTEN = (
    r"(?:(?:just|now|also|currently|already|still|mostly|usually|always|mainly|often|really|generally|typically"
    r"|normally|primarily|actually|only|exclusively) ){0,3}"
)
_FONDLY = (
    r"(?:(?:just|also|still|really|absolutely|totally|truly|generally|usually|always|definitely|personally"
    r"|especially|particularly|actually|too|both|honestly|kinda|do|quite) ){0,3}"
)
HAVE = r"(?:i've|we've|i have|we have|i now have|we now have)"
AM = r"(?:i'm|i am|we're|we are)"
NAME = r"(?-i:(?!(?:I|I'\w+|A)\b)[A-Z][\w.&'’/+#-]{0,40}(?: (?:of |the |de |and )?[A-Z0-9][\w.&'’/+#-]{0,40}){0,5})"
SOMEBODY = (
    r"(?!(?:he|she|it|they|we|you|this|that|these|those|who|everyone|everybody|someone|somebody|nobody|no one|one"
    r"|what|which"
    rf"|there|here|hope|glad|people|life|each|both|looks?|sounds?|seems?)\b){NAME}"
)
_PLACE_NAME = rf"{NAME}(?:,? {NAME}){{0,2}}"
NUMBER_WORD = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen"
    r"|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|a dozen|a thousand)"
)
_NUMBER = rf"(?:[$€£]?\d[\d,.:/-]{{0,15}}(?<![,.:/-])[kKmM%]?|{NUMBER_WORD}(?:[ -]{NUMBER_WORD}){{0,3}})"
_ABOUT = r"(?:(?:about|around|over|almost|nearly|roughly|approximately|at least|more than|exactly|a total of) )?"
CODE = r"`[^`\n]{1,80}`"
THING = rf"(?:{CODE}|(?:the |our |this |your )?[\w./@'’-]{{1,60}}(?: (?:{CODE}|[\w./@'’-]{{1,60}})){{0,4}}?)"
"""Up to five words, as few as will do."""
REST = r"[^\n]{1,160}"
MINE = r"(?:my|our)"
WORDS = r"[\w.&'’/+-]{1,40}"

# --- what changes about the speaker ----------------------------------------------------------------------

_COUNTED = (
    r"(?:got|had|bought|purchased|completed|finished|read|watched|attended|collected|visited|tried|written|lost|saved"
    r"|accumulated|spent|put in|done|made|run|seen|played|earned|planted|won|published|reached|gained|led|owned|hit"
    r"|logged|raised|sold|added|cooked|baked|knitted|recorded|climbed|taught|hosted|been to|been on)"
)
_UNIT = (
    rf"(?P<of>(?!(?:of|or|and|more|day|thing|things|times?|years?|percent|people|saved)\b){WORDS}(?: (?!(?:on|with"
    rf"|for|of"
    rf"|in) "
    rf"(?:it|them|me|this|that|us)\b){WORDS}){{0,7}})"
)
_ORDINAL = r"(?:second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|\d{1,3}(?:st|nd|rd|th))"
_MEASURE = (
    r"(?P<of>(?:(?:current|new|personal|latest|highest|all-time|average|weekly|monthly|daily|total|best|top) ){0,3}"
    r"(?:best(?: time)?|record|score|high score|time|goal|target|weight|height|age|salary|rent|budget|rating|rank|level"
    r"|streak|average|distance|mileage|limit|balance|savings|pace|phone number|address|zip code|email|birthday"
    r"|handle|username|size|extension|(?:employee|badge|student|member|room|seat|desk|locker|account|order|license"
    r"|flight|phone|office) (?:number|id)|follower count|word count|page count|count|deadline|quota|bedtime"
    r"|wake-up time|commute)"
    rf"(?: (?:for|in|on|at|of|to) {WORDS}(?: {WORDS}){{0,4}}?)?)"
)
_OFFICE = (
    r"(?:manager|boss|supervisor|lead|director|mentor|advisor|adviser|coach|trainer|teacher|tutor|doctor|dentist|vet"
    r"|therapist|physician|landlord|landlady|lawyer|accountant|employer|roommate|flatmate|assistant|wife|husband|spouse"
    r"|fianc[ée]e?|girlfriend|boyfriend|bank|insurer|gym|carrier|hometown|time zone|timezone)"
)
"""What one has one of at a time, and a name says which."""

OF_THE_SPEAKER: tuple[Rule, ...] = (
    rule(
        "status",
        rf"{MINE} {_MEASURE}(?:'s| is| was| has been) {ALREADY}(?:so far )?(?:at |up to |down to )?{_ABOUT}"
        rf"(?P<object>{_NUMBER}(?: {WORDS}){{0,3}}|(?-i:[A-Z]){REST})",
        "{me}'s {of}",
    ),
    rule(
        "status",
        rf"{MINE} (?P<of>(?:{WORDS} ){{0,2}}name)(?:'s| is) {ALREADY}(?P<object>{NAME})",
        "{me}'s {of}",
    ),
    rule(
        "status",
        rf"{MINE} (?P<of>(?:(?:new|current|line|project|product|team|account|family) ){{0,2}}{_OFFICE})(?:'s| is) "
        rf"{ALREADY}(?P<object>{NAME})(?: (?:now|these days|currently))?$",
        "{me}'s {of}",
    ),
    rule(
        "status",
        rf"(?:{HAVE} {ALREADY}(?:{_COUNTED} {ALREADY})?|(?:i|we) (?:just|now) {_COUNTED} |(?:i|we) (?:now |currently )"
        rf"?(?:have|own) ){_ABOUT}(?P<object>{_NUMBER})(?: more| different| new)? {_UNIT}",
        "{me}'s {of}",
    ),
    rule(
        "status",
        rf"{AM} (?:(?:now|currently|already|still) )?(?:up to|down to|now at|at) {_ABOUT}(?P<object>{_NUMBER}) {_UNIT}",
        "{me}'s {of}",
    ),
    rule(
        "status",
        rf"{AM} (?:(?:now|currently|already|still) )?on (?P<of>(?:page|chapter|episode|season|level|week|day|lesson"
        rf"|volume|book|issue)) (?P<object>{_NUMBER}(?: of {WORDS}(?: {WORDS}){{0,5}})?)",
        "{me}'s {of}",
    ),
    rule(
        "status",
        rf"(?:{AM} {ALREADY}on my|(?:i've|i have|i) {ALREADY}(?:finished|completed|started|begun|hit) my)"
        rf" (?P<object>{_ORDINAL}) (?P<of>{WORDS}(?: (?:of|in) {WORDS}(?: {WORDS}){{0,4}})?)",
        "{me}'s {of}",
    ),
    rule(
        "status",
        rf"(?:i {OFTEN}(?:spend|dedicate)|(?:i've|i have) {ALREADY}been (?:spending|dedicating|putting in)) {_ABOUT}"
        rf"(?P<object>(?:{_NUMBER}|an?) {WORDS} (?:each|per|a|every) \w{{3,8}}) (?:on|to|with|for) (?P<of>{REST})",
        "{me}'s time on {of}",
    ),
    rule(
        "status",
        rf"(?:{MINE} (?P<of>(?:{WORDS} ){{0,2}}goal)(?: for {WORDS}(?: {WORDS}){{0,3}})? is {ALREADY}(?:to )?"
        rf"(?P<object>{REST}))",
        "{me}'s {of}",
    ),
    rule(
        "status",
        rf"(?:{HAVE}|i|we) {ALREADY}(?:moved|relocated)(?: back)? (?:to|into|in) "
        rf"(?P<object>(?:(?:a|an|the|my|our) (?:{WORDS} ){{0,3}}(?:apartment|house|place|condo|flat|home|city|town"
        rf"|suburbs|countryside|studio|loft)(?: in {_PLACE_NAME})?|{_PLACE_NAME}))",
        "{me}'s home",
    ),
    rule(
        "status",
        rf"(?:(?:i|we) {OFTEN}live|{AM} {ALREADY}(?:living|based)) (?:in|at) "
        rf"(?P<object>(?:(?:a|an|the) (?:{WORDS} ){{0,3}})?{_PLACE_NAME})",
        "{me}'s home",
    ),
    rule(
        "status",
        rf"(?:i {OFTEN}work|{AM} {ALREADY}working|i {ALREADY}(?:started|began) (?:working|work|a (?:new )?job)"
        rf"|(?:i|i've|i have) {ALREADY}(?:got|landed|accepted|took|taken) (?:a|the|my)(?: new| dream)? "
        rf"(?:job|role|position|gig))"
        rf" (?:as|at|for) (?P<object>(?!(?:it|this|that|home|least|the moment|night|now|me|him|her)\b){REST})",
        "{me}'s job",
        confidence=LIKELY,
    ),
    rule(
        "status",
        rf"i(?:'ve| have)? {ALREADY}(?:got|landed|found|started|took|accepted|have) (?P<object>(?:an?|my"
        rf"|the) (?:{WORDS} )"
        rf"{{0,3}}?(?:job|internship|position))(?! (?:interview|offer|fair|hunt|search|application))\b",
        "{me}'s job",
        confidence=LIKELY,
    ),
    rule(
        "status",
        rf"i(?:'ve| have)? {ALREADY}(?:got|was|been) promoted to (?P<object>{REST})",
        "{me}'s job",
    ),
    rule(
        "status",
        rf"(?P<who>{SOMEBODY}) {ALREADY}(?:lives in|moved to|relocated to|is living in) (?P<object>{_PLACE_NAME})",
        "{who}'s home",
    ),
    rule(
        "status",
        rf"(?P<who>{SOMEBODY}) {ALREADY}(?:works (?:at|for|as)|is working (?:at|for|as)|got a job (?:at|as))"
        rf" (?P<object>{REST})",
        "{who}'s job",
    ),
    rule("status", r"(?:i'm|i am) (?:now |already )?(?P<object>\d{1,3})(?: years? old)?", "{me}'s age"),
    rule(
        "status",
        rf"(?:i'm|i am|we're|we are|i got|we got|i've been|we've been) {ALREADY}(?P<object>married|engaged|divorced"
        rf"|single)(?: (?:to|for) {REST})?",
        "{me}'s relationship",
    ),
    rule(
        "status",
        rf"(?:i'm|i am) {ALREADY}(?P<object>allergic) to (?P<of>{REST})",
        "{me}'s allergy to {of}",
    ),
    rule(
        "status",
        rf"(?:i'm|i am|i went|i've gone|i have gone) {ALREADY}(?:a )?(?P<object>vegan|vegetarian|pescatarian"
        rf"|gluten[- ]free|dairy[- ]free|lactose[- ]intolerant|on a (?:{WORDS} )?diet)",
        "{me}'s diet",
    ),
)

# --- tastes ----------------------------------------------------------------------------------------------

_NO_TASTE = (
    r"(?!(?:it|this|that|that's|those|these|them|how|what|when|where|why|your|you|you're|you've|him|her|his|their|its"
    r"|hearing|seeing|a (?:good|little|bit)|for|so|i|we|everything|all|each other|us|to (?:see|hear|know|think|say"
    r"|help|do)"
    r"|to$)\b|to$|[^\n]{0,80}\b(?:you|your|them|him|it|this|these|those|that's)\b"
    r"|the (?!outdoors|beach|ocean|mountains?|sea|snow|summer|winter|city|countryside|thrill|rain|cold|heat|gym)\b)"
)
"""What is liked in passing says nothing of a taste."""
_LIKE = r"(?:love|like|enjoy|prefer|adore)"
_LIKES = r"(?:loves|likes|enjoys|prefers|adores)"
_DISLIKE = (
    r"(?:hate|dislike|despise|can't stand|cannot stand|don't (?:really )?(?:like|enjoy)|do not (?:like|enjoy)"
    r"|never liked)"
)
_DISLIKES = r"(?:hates|dislikes|despises|can't stand|doesn't (?:really )?(?:like|enjoy))"
_TASTE = rf"{_NO_TASTE}(?P<object>{REST})"

TASTES: tuple[Rule, ...] = (
    rule("prefers", rf"(?:{NAME} and )?(?:i|we) {_FONDLY}{_LIKE} {_TASTE}", "{me}"),
    rule(
        "prefers",
        rf"(?:i'm|i am|i've been|i have been) {_FONDLY}(?:(?:a )?(?:big |huge |massive )?(?:fan of|into)|obsessed with"
        rf"|loving|enjoying|passionate about|keen on|fond of) {_TASTE}",
        "{me}",
    ),
    rule("prefers", rf"(?:i|we) {_FONDLY}{_DISLIKE} {_TASTE}", "{me}", "not {object}"),
    rule("prefers", rf"(?:i'm|i am) not (?:really )?(?:a (?:big |huge )?fan of|into) {_TASTE}", "{me}", "not {object}"),
    rule(
        "prefers",
        rf"(?:{MINE} (?:all-time |absolute |current |personal |new )?(?:favou?rite|fave|go-to)) "
        rf"(?P<of>{WORDS}(?: {WORDS}){{0,4}}?)(?: right now| lately| these days)?(?:'s| is| are| has to be| would be) "
        rf"(?:probably |definitely |currently |now |still |called )?(?P<object>(?!when\b|how\b|what\b|that\b){REST})",
        "{me}",
        "{object} (favourite {of})",
    ),
    rule(
        "prefers",
        rf"(?P<object>(?!(?:it|this|that|they|these|those|he|she|you|one|what|which|here|who)\b){THING})"
        rf"(?:'s| is| are) (?:definitely |still |always |now )?(?:one of )?{MINE} (?:all-time |absolute |current "
        rf"|new )?"
        rf"(?:favou?rites?|faves?|go-to)(?: (?P<of>(?!(?:when|for|to|because|if|in|on|at|by|with|and|so"
        rf"|way)\b){WORDS}(?: {WORDS}){{0,3}}))?",
        "{me}",
        "{object} (favourite {of})",
    ),
    rule(
        "prefers",
        rf"(?:[^\n]{{0,80}} )?{MINE} (?:all-time |absolute |current |new )?(?:favou?rite"
        rf"|fave) (?P<of>{WORDS}(?: {WORDS})?)"
        rf" (?:called|named) (?P<object>{NAME})",
        "{me}",
        "{object} (favourite {of})",
    ),
    rule(
        "prefers",
        rf"(?P<object>(?!(?:it|this|that|they|these|those|he|she|you|one|what|which|here|who|there)\b){THING})(?:'s"
        rf"| is)"
        rf" (?:still |always |really )?{MINE} (?:true |big |greatest |one |main )?passion",
        "{me}",
    ),
    rule(
        "prefers",
        rf"{MINE} (?P<of>{WORDS}(?: {NAME})?) {_FONDLY}(?:{_LIKES}|{_LIKE}) {_TASTE}",
        "{me}'s {of}",
    ),
    rule("prefers", rf"(?P<subject>the (?:{WORDS} ){{0,2}}(?:kids|children|dogs|cats)) {_FONDLY}{_LIKE} {_TASTE}"),
    rule("prefers", rf"(?P<subject>{SOMEBODY}) {_FONDLY}{_LIKES} {_TASTE}"),
    rule("prefers", rf"(?P<subject>{SOMEBODY}) {_FONDLY}{_DISLIKES} {_TASTE}", "", "not {object}"),
)
