"""The ways in which plain English states a fact or a plan.

Each rule of facts has said something right in labelled turns, or is the plainest way to say its predicate; a rule that
neither the labels nor a test needs does not belong here (`bench/proposals.py` measures them).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

FIRM, LIKELY = 0.9, 0.7
"""The confidence of a rule."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to state a fact. The groups `subject`, `of` and `object` of its pattern are the parts of the fact."""

    predicate: str
    pattern: re.Pattern[str]
    subject: str
    """A template for the subject where no group names it: `{me}` is the speaker, `{of}` that group."""
    object: str
    confidence: float

    @property
    def is_personal(self) -> bool:
        """Whether it is about the speaker: then only a person's own turn can state it."""
        return "{me}" in self.subject


def _rules(
    predicate: str, *patterns: str, subject: str = "", object_: str = "{object}", confidence: float = FIRM
) -> tuple[Rule, ...]:
    compiled = (re.compile(pattern, re.IGNORECASE) for pattern in patterns)
    return tuple(Rule(predicate, pattern, subject, object_, confidence) for pattern in compiled)


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
    rf"(?P<of>(?!(?:of|or|and|more|day|thing|things|times?|years?|percent|people|saved)\b){WORDS}(?: (?!(?:on|with|for"
    rf"|of|in) (?:it|them|me|this|that|us)\b){WORDS}){{0,7}})"
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
"""A person has one of these at a time, and a name says which."""

OF_THE_SPEAKER: tuple[Rule, ...] = (
    *_rules(
        "status",
        rf"{MINE} {_MEASURE}(?:'s| is| was| has been) {ALREADY}(?:so far )?(?:at |up to |down to )?{_ABOUT}"
        rf"(?P<object>{_NUMBER}(?: {WORDS}){{0,3}}|(?-i:[A-Z]){REST})",
        rf"{MINE} (?P<of>(?:{WORDS} ){{0,2}}name)(?:'s| is) {ALREADY}(?P<object>{NAME})",
        rf"{MINE} (?P<of>(?:(?:new|current|line|project|product|team|account|family) ){{0,2}}{_OFFICE})(?:'s| is) "
        rf"{ALREADY}(?P<object>{NAME})(?: (?:now|these days|currently))?$",
        rf"(?:{HAVE} {ALREADY}(?:{_COUNTED} {ALREADY})?|(?:i|we) (?:just|now) {_COUNTED} |(?:i|we) (?:now |currently )"
        rf"?(?:have|own) ){_ABOUT}(?P<object>{_NUMBER})(?: more| different| new)? {_UNIT}",
        rf"{AM} (?:(?:now|currently|already|still) )?(?:up to|down to|now at|at) {_ABOUT}(?P<object>{_NUMBER}) {_UNIT}",
        rf"{AM} (?:(?:now|currently|already|still) )?on (?P<of>(?:page|chapter|episode|season|level|week|day|lesson"
        rf"|volume|book|issue)) (?P<object>{_NUMBER}(?: of {WORDS}(?: {WORDS}){{0,5}})?)",
        rf"(?:{AM} {ALREADY}on my|(?:i've|i have|i) {ALREADY}(?:finished|completed|started|begun|hit) my)"
        rf" (?P<object>{_ORDINAL}) (?P<of>{WORDS}(?: (?:of|in) {WORDS}(?: {WORDS}){{0,4}})?)",
        rf"{MINE} (?P<of>(?:{WORDS} ){{0,2}}goal)(?: for {WORDS}(?: {WORDS}){{0,3}})? is {ALREADY}(?:to )?"
        rf"(?P<object>{REST})",
        subject="{me}'s {of}",
    ),
    *_rules(
        "status",
        rf"(?:i {OFTEN}(?:spend|dedicate)|(?:i've|i have) {ALREADY}been (?:spending|dedicating|putting in)) {_ABOUT}"
        rf"(?P<object>(?:{_NUMBER}|an?) {WORDS} (?:each|per|a|every) \w{{3,8}}) (?:on|to|with|for) (?P<of>{REST})",
        subject="{me}'s time on {of}",
    ),
    *_rules(
        "status",
        rf"(?:{HAVE}|i|we) {ALREADY}(?:moved|relocated)(?: back)? (?:to|into|in) "
        rf"(?P<object>(?:(?:a|an|the|my|our) (?:{WORDS} ){{0,3}}(?:apartment|house|place|condo|flat|home|city|town"
        rf"|suburbs|countryside|studio|loft)(?: in {_PLACE_NAME})?|{_PLACE_NAME}))",
        rf"(?:(?:i|we) {OFTEN}live|{AM} {ALREADY}(?:living|based)) (?:in|at) "
        rf"(?P<object>(?:(?:a|an|the) (?:{WORDS} ){{0,3}})?{_PLACE_NAME})",
        subject="{me}'s home",
    ),
    *_rules(
        "status",
        rf"(?:i {OFTEN}work|{AM} {ALREADY}working|i {ALREADY}(?:started|began) (?:working|work|a (?:new )?job)|(?:i"
        rf"|i've|i have) {ALREADY}(?:got|landed|accepted|took|taken) (?:a|the|my)(?: new| dream)? (?:job|role|position"
        rf"|gig)) (?:as|at|for) (?P<object>(?!(?:it|this|that|home|least|the moment|night|now|me|him|her)\b){REST})",
        rf"i(?:'ve| have)? {ALREADY}(?:got|landed|found|started|took|accepted|have) (?P<object>(?:an?|my|the) "
        rf"(?:{WORDS} ){{0,3}}?(?:job|internship|position))(?! (?:interview|offer|fair|hunt|search|application))\b",
        subject="{me}'s job",
        confidence=LIKELY,
    ),
    *_rules(
        "status", rf"i(?:'ve| have)? {ALREADY}(?:got|was|been) promoted to (?P<object>{REST})", subject="{me}'s job"
    ),
    *_rules(
        "status",
        rf"(?P<who>{SOMEBODY}) {ALREADY}(?:lives in|moved to|relocated to|is living in) (?P<object>{_PLACE_NAME})",
        subject="{who}'s home",
    ),
    *_rules("status", r"(?:i'm|i am) (?:now |already )?(?P<object>\d{1,3})(?: years? old)?", subject="{me}'s age"),
    *_rules(
        "status",
        rf"(?:i'm|i am) {ALREADY}(?P<object>allergic) to (?P<of>{REST})",
        subject="{me}'s allergy to {of}",
    ),
    *_rules(
        "status",
        rf"(?:i'm|i am|i went|i've gone|i have gone) {ALREADY}(?:a )?(?P<object>vegan|vegetarian|pescatarian"
        rf"|gluten[- ]free|dairy[- ]free|lactose[- ]intolerant|on a (?:{WORDS} )?diet)",
        subject="{me}'s diet",
    ),
)

# --- tastes ----------------------------------------------------------------------------------------------

_NO_TASTE = (
    r"(?!(?:it|this|that|that's|those|these|them|how|what|when|where|why|your|you|you're|you've|him|her|his|their|its"
    r"|hearing|seeing|a (?:good|little|bit)|for|so|i|we|everything|all|each other|us|to (?:see|hear|know|think|say"
    r"|help|do)|to$)\b|to$|[^\n]{0,80}\b(?:you|your|them|him|it|this|these|those|that's)\b|the (?!outdoors|beach|ocean"
    r"|mountains?|sea|snow|summer|winter|city|countryside|thrill|rain|cold|heat|gym)\b)"
)
"""A liking in passing is no taste."""
_LIKE = r"(?:love|like|enjoy|prefer|adore)"
_LIKES = r"(?:loves|likes|enjoys|prefers|adores)"
_DISLIKE = (
    r"(?:hate|dislike|despise|can't stand|cannot stand|don't (?:really )?(?:like|enjoy)|do not (?:like|enjoy)"
    r"|never liked)"
)
_DISLIKES = r"(?:hates|dislikes|despises|can't stand|doesn't (?:really )?(?:like|enjoy))"
_TASTE = rf"{_NO_TASTE}(?P<object>{REST})"

_NO_NAME = r"(?!(?:it|this|that|they|these|those|he|she|you|one|what|which|here|who|there)\b)"

TASTES: tuple[Rule, ...] = (
    *_rules(
        "prefers",
        rf"(?:{NAME} and )?(?:i|we) {_FONDLY}{_LIKE} {_TASTE}",
        rf"(?:i'm|i am|i've been|i have been) {_FONDLY}(?:(?:a )?(?:big |huge |massive )?(?:fan of|into)|obsessed with"
        rf"|loving|enjoying|passionate about|keen on|fond of) {_TASTE}",
        subject="{me}",
    ),
    *_rules(
        "prefers",
        rf"(?:i|we) {_FONDLY}{_DISLIKE} {_TASTE}",
        rf"(?:i'm|i am) not (?:really )?(?:a (?:big |huge )?fan of|into) {_TASTE}",
        subject="{me}",
        object_="not {object}",
    ),
    *_rules(
        "prefers",
        rf"(?:{MINE} (?:all-time |absolute |current |personal |new )?(?:favou?rite|fave|go-to)) "
        rf"(?P<of>{WORDS}(?: {WORDS}){{0,4}}?)(?: right now| lately| these days)?(?:'s| is| are| has to be| would be) "
        rf"(?:probably |definitely |currently |now |still |called )?(?P<object>(?!when\b|how\b|what\b|that\b){REST})",
        rf"(?P<object>{_NO_NAME}{THING})(?:'s| is| are) (?:definitely |still |always |now )?(?:one of )?{MINE} "
        rf"(?:all-time |absolute |current |new )?(?:favou?rites?|faves?|go-to)(?: (?P<of>(?!(?:when|for|to|because|if"
        rf"|in|on|at|by|with|and|so|way)\b){WORDS}(?: {WORDS}){{0,3}}))?",
        rf"(?:[^\n]{{0,80}} )?{MINE} (?:all-time |absolute |current |new )?(?:favou?rite|fave) "
        rf"(?P<of>{WORDS}(?: {WORDS})?) (?:called|named) (?P<object>{NAME})",
        subject="{me}",
        object_="{object} (favourite {of})",
    ),
    *_rules(
        "prefers",
        rf"(?P<object>{_NO_NAME}{THING})(?:'s| is) (?:still |always |really )?{MINE} "
        rf"(?:true |big |greatest |one |main )?passion",
        subject="{me}",
    ),
    *_rules(
        "prefers",
        rf"{MINE} (?P<of>{WORDS}(?: {NAME})?) {_FONDLY}(?:{_LIKES}|{_LIKE}) {_TASTE}",
        subject="{me}'s {of}",
    ),
    *_rules(
        "prefers",
        rf"(?P<subject>the (?:{WORDS} ){{0,2}}(?:kids|children|dogs|cats)) {_FONDLY}{_LIKE} {_TASTE}",
        rf"(?P<subject>{SOMEBODY}) {_FONDLY}{_LIKES} {_TASTE}",
    ),
    *_rules("prefers", rf"(?P<subject>{SOMEBODY}) {_FONDLY}{_DISLIKES} {_TASTE}", object_="not {object}"),
)

# --- things ----------------------------------------------------------------------------------------------

_SOMETHING = (
    r"(?!(?:it|this|that|these|those|they|he|she|you|i|we|there|here|what|which|who|everything|nothing|something"
    r"|anything|one|so|and|but|how|where|why|when|life|things?|people|everyone|someone|stuff|lots|mine|yours|his|hers"
    r"|them|him|her|me|us|(?:an?|the) (?:\w+ )?one"
    r"|let|let's|just|please|not|no|now|then|sure|love|being|taking|getting|having|seeing|as|in|on|with|for)\b)"
)
_SUBJECT = rf"(?P<subject>{_SOMETHING}{THING})"
_OBJECT = rf"(?P<object>{_SOMETHING}{REST})"
_FIRST = rf"(?P<first>{_SOMETHING}{THING})"
_VALUE = rf"(?P<object>{CODE}|['\"][^'\"\n]{{1,60}}['\"]|#?\w[\w.,:/%#$+-]{{0,60}}(?: (?:{WORDS})){{0,3}})"
_NAMED = (
    rf"(?:{CODE}|{NAME}|[\w-]{{1,60}}[._/][\w./-]{{1,60}}|[a-z]\w{{0,40}}-v?\d[\w.-]{{0,20}}"
    r"|(?-i:[a-z]{1,40}[A-Z]\w{0,60}))"
)
"""A name, a piece of code, a path or an identifier."""
_WHAT_IS_NAMED = rf"(?P<subject>{_SOMETHING}(?:(?:the|our|my) )?(?:{WORDS} ){{0,2}}?{_NAMED}(?: {WORDS}){{0,2}}?)"

_STATE = (
    r"(?P<object>(?:fully |completely |partly |mostly |still |all )?(?:done|finished|complete|completed|broken|down"
    r"|live|deployed|released|published|ready|deprecated|retired|decommissioned|discontinued|merged|fixed|passing"
    r"|failing|on hold|blocked|deleted|removed|archived|renamed|disabled|enabled|installed|on track|on schedule"
    r"|on shaky ground|in progress|offline|online|cancelled|canceled|postponed|approved|rejected|closed|open"
    r"|out of date|up to date|up and running|running|hot-reloaded|abandoned|obsolete|paused|sold out"
    r"|under construction|under review|in production|in beta))(?: (?:now|again|already|today|yesterday))?"
)
_VERSION = r"(?:(?:version )?v?\d[\w.-]{0,20})"
_KNOB = (
    r"(?:size|limit|timeout|time-out|port|count|threshold|interval|budget|width|height|depth|length|version|rate|ttl"
    r"|quota|delay|window|ratio|concurrency|capacity|cap|maximum|minimum|level|retention|frequency|replicas|workers"
    r"|retries|cache|seed)"
)
"""Settings that take a number."""
_AMOUNT = (
    r"(?:\d[\w.,:%-]{0,20}(?<![.,:-])(?: (?:ms|s|seconds?|minutes?|hours?|days?|weeks?|[kmg]i?b|bytes?|tokens?|rows?"
    r"|items?|percent|px|per (?:second|minute|hour|day)))?)"
)
_IN_PASSING = (
    r"to (?:spend (?:\w{1,20} ){0,2}(?:time|day|evening|weekend)|go (?:to|for|out)|take a (?:break|walk|trip|look|nap))"
)
"""Pastimes are no decisions that last."""
_GADGET = (
    r"(?:dog|puppy|pup|cat|kitten|rabbit|bunny|hamster|guinea pig|turtle|tortoise|parrot|bird|fish|snake|lizard|horse"
    r"|pet|car|truck|van|suv|motorcycle|bike|bicycle|scooter|boat|house|home|apartment|condo|cabin|piano|keyboard"
    r"|guitar|violin|ukulele|drum set|drums|saxophone|flute|clarinet|camera|lens|laptop|computer|pc|tablet|phone"
    r"|iphone|ipad|macbook|console|tv|monitor|printer|router|watch|smartwatch|fitbit|drone|grill|oven|air fryer|mixer"
    r"|tent|kayak|telescope|bookshelf|desk|couch|sofa|mattress|necklace|ring|bracelet|aquarium|tank|plants?|store"
    r"|shop|studio|business|company|restaurant|farm|server|domain)"
)
_HOW_MANY = rf"(?:an?|my|our|another|some|\d{{1,3}}|{NUMBER_WORD})"
_OWNED = (
    rf"(?![^\n]{{0,80}} for (?:my|a|an|his|her|their|our"
    rf"|another) )(?P<object>{_HOW_MANY} (?:{WORDS} ){{0,4}}?{_GADGET}s?(?: (?:named|called) {NAME}(?: and {NAME})?)?)"
    r"(?= (?:for|from|last|this|yesterday|today|and|to|with|in|on|at|which|that|who|recently|now|too|as|when|about"
    r"|a)\b|$)"
)

_PLAIN_VALUE = r"(?:#[0-9a-f]{3,8}|\d[\w.,:%-]{0,20}|true|false|on|off|auto|none|null)"

LISTED: tuple[Rule, ...] = _rules(
    "configured_as",
    r"`(?P<subject>[^`\n]{1,60})`(?: \([^()\n]{1,60}\))?: (?:[a-z]{1,12} ){0,3}(?:`[^`\n]{1,60}` (?:→|->|to) )?"
    rf"`(?P<object>{_PLAIN_VALUE})`",
    rf"`(?P<subject>[\w.-]{{1,60}})(?:: ?| ?= ?)[^`\n]{{1,60}}` (?:→|->) `(?P<object>{_PLAIN_VALUE})`",
    r"(?P<subject>[a-z][\w.-]{1,40}(?: [\w.-]{1,40}){0,4}?)(?: is| as|:)? (?P<object>(?=[#a-f]{0,6}\d)#?[0-9a-f]{6})$",
)
"""Settings as a line of a list has them, name and value, without a verb: read from a whole line."""

_DID = rf"(?:(?:i|we|{HAVE}|they|the team) )?{ALREADY}"

OF_THINGS: tuple[Rule, ...] = (
    # sources of truth, and replacements
    *_rules(
        "source_of_truth",
        rf"{_FIRST}(?: is|'s)(?: now| still)? (?:the |our )?(?:single |only |one )?source of truth (?:for|on|of|about) "
        r"(?P<of>[^\n]{1,80})",
        subject="{of}",
        object_="{first}",
    ),
    *_rules(
        "retired_by",
        rf"{_SUBJECT} (?:was|is|has been|have been|were|got)(?: now| since| fully)? (?:retired|superseded|replaced"
        rf"|deprecated|succeeded) (?:by|in favou?r of|with) {_OBJECT}",
    ),
    *_rules(
        "configured_as",
        rf"{_DID}(?:upgraded|downgraded|updated|bumped) {_SUBJECT} (?:from {_VERSION} )?to (?P<object>{_VERSION})",
    ),
    *_rules(
        "replaces",
        rf"{_DID}(?:switched|migrated|moved|upgraded|ported|converted|changed over)(?: {THING})?? (?:over )?from "
        rf"(?!{_VERSION}(?: |$)){_FIRST} to (?P<of>{_SOMETHING}[^\n]{{1,60}})",
        rf"{_DID}(?:replaced|swapped(?: out)?) {_FIRST} (?:with|by|for) (?P<of>{_SOMETHING}[^\n]{{1,60}})",
        subject="{of}",
        object_="{first}",
    ),
    *_rules(
        "replaces", rf"{_SUBJECT} (?:now )?(?:replaces|supersedes|replaced|superseded|takes the place of) {_OBJECT}"
    ),
    # settings
    *_rules(
        "configured_as",
        rf"(?:(?:i|we|{HAVE}|i've just) )?{ALREADY}(?:changed|bumped|raised|lowered|updated|switched|increased|reduced)"
        rf" {_SUBJECT} from [^\n]{{1,40}}? to {_VALUE}",
        rf"(?:i|we|{HAVE}) {ALREADY}(?:set|changed|bumped|raised|lowered|configured|limited|capped|increased|reduced)"
        rf" {_SUBJECT} (?:to|at) {_VALUE}",
        rf"{_SUBJECT} (?:is|are|was|were)(?: now| currently| already)? (?:set|configured|pinned|fixed|limited|capped)"
        rf" (?:to|as|at) {_VALUE}",
        rf"{_SUBJECT} defaults? to {_VALUE}",
        rf"(?P<subject>(?:(?:the|our) (?:{WORDS} ){{0,4}}?|{_NAMED} (?:{WORDS} ){{0,2}}?){_KNOB})"
        rf"(?: is|'s)(?: now| currently)? (?P<object>{_AMOUNT})(?: (?:now|currently|again|today))?$",
    ),
    # dependencies and use
    *_rules("depends_on", rf"{_SUBJECT} (?:now |also |still )?(?:depends? on|relies on|rely on|is built on) {_OBJECT}"),
    *_rules(
        "uses",
        rf"(?:i|we) {OFTEN}use {_OBJECT}",
        rf"(?:{AM} {ALREADY}using|(?:i've|i have|we've|we have) {ALREADY}been using|(?:i|we|{HAVE}) {ALREADY}"
        rf"(?:started|begun|began|switched to) using|(?:i|we|{HAVE}) {ALREADY}(?:switched|migrated) (?:over )?to) "
        rf"{_OBJECT}",
        subject="{me}",
    ),
    *_rules(
        "uses",
        rf"{_WHAT_IS_NAMED} (?:now |also |still )?(?:uses|runs on|is built with|is written in) {_OBJECT}",
        rf"(?P<subject>(?:(?:all|the|our) (?:{WORDS} ){{0,2}}?{WORDS}"
        rf"|{_SOMETHING}{WORDS} (?:{WORDS} ){{0,2}}?{WORDS}(?= now))) (?:now |still |also )?use {_OBJECT}",
    ),
    # decisions
    *_rules(
        "decision",
        rf"(?:(?:i|we|{HAVE}) (?:{ALREADY}|all |both ){{0,2}})(?:decided|agreed|resolved|chose|opted) "
        rf"(?P<object>(?!{_IN_PASSING}\b)(?:to|on|against|that|for|not to) "
        rf"(?![^\n]{{0,40}}\b(?:it|this|that)\b)[^\n]{{4,160}})",
        subject="{me}",
    ),
    # owners
    *_rules(
        "owns",
        rf"(?:(?:i|we) {ALREADY}(?:own|bought|purchased|adopted|got|have)|{HAVE}(?: {ALREADY}(?:got|bought|adopted"
        rf"|purchased))?) {_OWNED}",
        rf"(?:i|we|{HAVE}) {ALREADY}(?:bought|purchased) (?:myself )?(?![^\n]{{0,80}} for (?:my|a|an|his|her|their"
        rf"|our) )(?P<object>{_HOW_MANY} (?!(?:few|couple|bunch|bit) )[^\n]{{2,80}})",
        subject="{me}",
        confidence=LIKELY,
    ),
    *_rules(
        "owns", rf"(?P<subject>{SOMEBODY}) (?:owns|maintains|is responsible for|is in charge of|looks after) {_OBJECT}"
    ),
    # states
    *_rules(
        "status",
        rf"(?P<subject>(?![^\n]{{0,80}}\b(?:it|that|this|they|he|she|you|who|which|what)\b)(?:(?:the|our|my"
        rf"|all) (?:{WORDS} ){{0,4}}?{WORDS}|(?:{WORDS} ){{0,2}}?{_NAMED}(?: {WORDS})?))"
        rf"(?:'s| is| are| has been| have been)(?: now| finally| currently| already| officially| all)? {_STATE}"
        r"\W{0,3}$",
    ),
)

# --- plans -----------------------------------------------------------------------------------------------

_SOON = r"(?:(?:just|also|definitely|probably|finally|actually|really|now|still|totally) ){0,2}+"
_NO_PLAN = (
    r"(?!(?:be|have|let|keep|get (?:back|there)|see (?:you|ya|how|what)|check it|give it|never|always|remember|need"
    r"|make sure|do (?:it|this|that|so|my best)|try (?:my best|to|it|that|them|harder)|tell you|know|miss|love|support"
    r"|say|admit|bet)\b)"
)

INTENT = re.compile(
    rf"(?:(?:i|we)(?:'ll| will| shall) {_SOON}|(?:i'm|i am|we're|we are) {_SOON}(?:going to|gonna|planning to"
    rf"|planning on|planning|set to|scheduled to|about to) |(?:i|we) {_SOON}(?:plan to|plan on|intend to|aim to"
    rf"|will be|'ll be) ){_NO_PLAN}(?P<what>[^\n]{{3,200}})",
    re.IGNORECASE,
)
"""The future tense and its like, from the beginning of a clause."""

ARRANGED = re.compile(
    r"(?:i'm|i am|we're|we are) (?P<what>(?:off to|(?!(?:feeling|looking|thinking|hoping|wondering|trying|considering"
    r"|being"
    r"|loving|enjoying|getting ready|going to (?!the|a|an|my|our|see)|planning|dying|doing (?:well|good|great)|learning"
    r"|working|living|missing|wanting|needing|seeing (?:a lot|some)|starting to)\b)[a-z]{3,14}ing) [^\n]{3,200})"
    r"|(?:i've got|we've got|i have|we have|i got)(?: also)? (?P<event>(?:an?|my|our|another) [^\n]{3,160})",
    re.IGNORECASE,
)
"""An entry of the calendar; only with a later day beside it, since the same words tell of the present."""

REMINDER = re.compile(r"(?:please |can you )?remind me (?:to |about )(?P<what>[^\n]{3,200})", re.IGNORECASE)

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
DATE_PHRASE = re.compile(
    r"(?:^|\s)(?:(?:on|by|for|until|till|this|next|coming|this coming|in|from|starting) ){0,2}"
    r"(?:the )?(?:today|tonight|tomorrow(?: (?:morning|afternoon|evening|night))?"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day(?: (?:morning|afternoon|evening|night))?"
    r"|(?:this|next|coming) (?:week|weekend|month|year|summer|winter|spring|autumn|fall)|(?:an?|\w{1,9}) (?:days?"
    rf"|weeks?|months?)|\d{{4}}-\d\d-\d\d|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}(?:,? \d{{4}})?"
    rf"|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?|{_MONTH}(?: \d{{4}})?)(?=$|[\s,.;!])",
    re.IGNORECASE,
)
"""The day of a plan, with the words that lead into it."""

CONDITION = re.compile(
    r"(?<!see )(?<!ask )(?<!know )(?<!check )(?<!wonder )(?<!wondering )(?<!sure )\b(?P<condition>(?:when|once"
    r"|as soon as|after|if|whenever|until|before) (?!\w+ing\b|that\b|all\b|then\b|necessary\b|possible\b|needed\b"
    r"|ever\b|you\b)[^\n,;]{4,120})",
    re.IGNORECASE,
)
"""An event that has to happen first."""
