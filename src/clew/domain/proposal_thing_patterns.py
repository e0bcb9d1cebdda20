"""How plain English says what holds of things at work: what is used, replaced, set, owned and decided."""

from __future__ import annotations

from clew.domain.proposal_patterns import (
    ALREADY,
    AM,
    CODE,
    HAVE,
    LIKELY,
    NAME,
    NUMBER_WORD,
    OFTEN,
    REST,
    SOMEBODY,
    THING,
    WORDS,
    Rule,
    rule,
)

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
    r"|live"
    r"|deployed|released|published|ready|deprecated|retired|decommissioned|discontinued"
    r"|merged|fixed|passing|failing|on hold|blocked|deleted|removed"
    r"|archived|renamed|disabled|enabled|installed|on track|on schedule|on shaky ground|in progress|offline"
    r"|online|cancelled|canceled|postponed|approved|rejected|closed|open|out of date|up to date|up and running|running"
    r"|hot-reloaded|abandoned|obsolete|paused|sold out|under construction|under review|in production|in beta))"
    r"(?: (?:now|again|already|today|yesterday))?"
)
_VERSION = r"(?:(?:version )?v?\d[\w.-]{0,20})"
_KNOB = (
    r"(?:size|limit|timeout|time-out|port|count|threshold|interval|budget|width|height|depth|length|version|rate|ttl"
    r"|quota|delay|window|ratio|concurrency|capacity|cap|maximum|minimum|level|retention|frequency|replicas|workers"
    r"|retries|cache|seed)"
)
"""What a thing can be set to by a number."""
_AMOUNT = (
    r"(?:\d[\w.,:%-]{0,20}(?<![.,:-])(?: (?:ms|s|seconds?|minutes?|hours?|days?|weeks?|[kmg]i?b|bytes?|tokens?|rows?"
    r"|items?|percent|px|per (?:second|minute|hour|day)))?)"
)
_IN_PASSING = (
    r"to (?:spend (?:\w{1,20} ){0,2}(?:time|day|evening|weekend)|go (?:to|for|out)|take a (?:break|walk|trip|look|nap))"
)
"""How one passes the time decides nothing that lasts."""
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

LISTED: tuple[Rule, ...] = (
    rule(
        "configured_as",
        r"`(?P<subject>[^`\n]{1,60})`(?: \([^()\n]{1,60}\))?: (?:[a-z]{1,12} ){0,3}(?:`[^`\n]{1,60}` (?:→|->|to) )?"
        rf"`(?P<object>{_PLAIN_VALUE})`",
    ),
    rule(
        "configured_as",
        rf"`(?P<subject>[\w.-]{{1,60}})(?:: ?| ?= ?)[^`\n]{{1,60}}` (?:→|->) `(?P<object>{_PLAIN_VALUE})`",
    ),
    rule(
        "configured_as",
        r"(?P<subject>[a-z][\w.-]{1,40}(?: [\w.-]{1,40}){0,4}?)(?: is| as"
        r"|:)? (?P<object>(?=[#a-f]{0,6}\d)#?[0-9a-f]{6})$",
    ),
)
"""Settings as a line of a list has them, name and value, without a verb: read from a whole line."""

OF_THINGS: tuple[Rule, ...] = (
    # sources of truth, and what took the place of what
    rule(
        "source_of_truth",
        rf"{_FIRST}(?: is|'s)(?: now| still)? (?:the |our )?(?:single |only |one )?source of truth (?:for|on|of|about) "
        r"(?P<of>[^\n]{1,80})",
        "{of}",
        "{first}",
    ),
    rule(
        "source_of_truth",
        rf"(?:the |our )?(?:single |only |one )?source of truth (?:for|on|of"
        rf"|about) (?P<of>{THING}) is(?: now)? {_OBJECT}",
        "{of}",
    ),
    rule(
        "retired_by",
        rf"{_SUBJECT} (?:was|is|has been|have been|were|got)(?: now| since| fully)? (?:retired|superseded|replaced"
        rf"|deprecated|succeeded) (?:by|in favou?r of|with) {_OBJECT}",
    ),
    rule(
        "configured_as",
        rf"(?:(?:i|we|{HAVE}|they|the team) )?{ALREADY}(?:upgraded|downgraded|updated|bumped) {_SUBJECT}"
        rf" (?:from {_VERSION} )?to (?P<object>{_VERSION})",
    ),
    rule(
        "replaces",
        rf"(?:(?:i|we|{HAVE}|they|the team) )?{ALREADY}(?:switched|migrated|moved|upgraded|ported|converted"
        rf"|changed over)"
        rf"(?: {THING})?? (?:over )?from (?!{_VERSION}(?: |$)){_FIRST} to (?P<of>{_SOMETHING}[^\n]{{1,60}})",
        "{of}",
        "{first}",
    ),
    rule(
        "replaces",
        rf"(?:(?:i|we|{HAVE}|they|the team) )?{ALREADY}(?:replaced|swapped(?: out)?) {_FIRST} (?:with|by|for) "
        rf"(?P<of>{_SOMETHING}[^\n]{{1,60}})",
        "{of}",
        "{first}",
    ),
    rule("replaces", rf"{_SUBJECT} (?:now )?(?:replaces|supersedes|replaced|superseded|takes the place of) {_OBJECT}"),
    # settings
    rule(
        "configured_as",
        rf"(?:(?:i|we|{HAVE}|i've just) )?{ALREADY}(?:changed|bumped|raised|lowered|updated|switched|increased|reduced)"
        rf" {_SUBJECT} from [^\n]{{1,40}}? to {_VALUE}",
    ),
    rule(
        "configured_as",
        rf"(?:i|we|{HAVE}) {ALREADY}(?:set|changed|bumped|raised|lowered|configured|limited|capped|increased|reduced)"
        rf" {_SUBJECT} (?:to|at) {_VALUE}",
    ),
    rule(
        "configured_as",
        rf"{_SUBJECT} (?:is|are|was|were)(?: now| currently| already)? (?:set|configured|pinned|fixed|limited|capped)"
        rf" (?:to|as|at) {_VALUE}",
    ),
    rule("configured_as", rf"{_SUBJECT} defaults? to {_VALUE}"),
    rule(
        "configured_as",
        rf"(?P<subject>(?:(?:the|our) (?:{WORDS} ){{0,4}}?|{_NAMED} (?:{WORDS} ){{0,2}}?){_KNOB})"
        rf"(?: is|'s)(?: now| currently)? (?P<object>{_AMOUNT})(?: (?:now|currently|again|today))?$",
    ),
    rule(
        "configured_as",
        rf"{_SUBJECT} (?:is(?: actually| now)?|should be) (?P<object>#?[0-9a-f]{{6}}|\d{{1,9}} ?(?:ms|s|seconds?"
        rf"|minutes?"
        r"|MiB|MB|GB|KB|KiB|px|ports?))",
        confidence=LIKELY,
    ),
    rule("configured_as", rf"{_SUBJECT} should be (?:the )?(?P<object>same as {_SOMETHING}{REST})", confidence=LIKELY),
    # what rests on what
    rule("depends_on", rf"{_SUBJECT} (?:now |also |still )?(?:depends? on|relies on|rely on|is built on) {_OBJECT}"),
    rule("depends_on", rf"{_WHAT_IS_NAMED} (?:now |also |still )?requires {_OBJECT}"),
    # what is used
    rule("uses", rf"(?:i|we) {OFTEN}use {_OBJECT}", "{me}"),
    rule(
        "uses",
        rf"(?:{AM} {ALREADY}using|(?:i've|i have|we've|we have) {ALREADY}been using|(?:i|we|{HAVE}) {ALREADY}"
        rf"(?:started|begun|began|switched to) using|(?:i|we|{HAVE}) {ALREADY}(?:switched|migrated) (?:over )?to) "
        rf"{_OBJECT}",
        "{me}",
    ),
    rule("uses", rf"{_WHAT_IS_NAMED} (?:now |also |still )?(?:uses|runs on|is built with|is written in) {_OBJECT}"),
    rule(
        "uses",
        rf"(?P<subject>(?:(?:all|the|our) (?:{WORDS} ){{0,2}}?{WORDS}"
        rf"|{_SOMETHING}{WORDS} (?:{WORDS} ){{0,2}}?{WORDS}(?= now)))"
        rf" (?:now |still |also )?use {_OBJECT}",
    ),
    # decisions
    rule(
        "decision",
        rf"(?:(?:i|we|{HAVE}) (?:{ALREADY}|all |both ){{0,2}})(?:decided|agreed|resolved|chose|opted) "
        rf"(?P<object>(?!{_IN_PASSING}\b)(?:to|on|against|that|for|not to) "
        rf"(?![^\n]{{0,40}}\b(?:it|this|that)\b)[^\n]{{4,160}})",
        "{me}",
    ),
    rule("decision", rf"(?:(?:i|we|{HAVE}) {ALREADY})settled (?P<object>on {_SOMETHING}[^\n]{{2,160}})", "{me}"),
    rule("decision", r"(?:the |our )?decision(?: is| was)?(?::| to) (?P<object>[^\n]{4,160})", "{me}"),
    rule(
        "decision",
        rf"(?:let's|we'll) (?P<object>(?:go with|stick with|stick to|settle on) {_SOMETHING}[^\n]{{2,100}})",
        "{me}",
    ),
    # who owns what
    rule(
        "owns",
        rf"(?:(?:i|we) {ALREADY}(?:own|bought|purchased|adopted|got|have)|{HAVE}(?: {ALREADY}(?:got|bought|adopted"
        rf"|purchased))?) {_OWNED}",
        "{me}",
        confidence=LIKELY,
    ),
    rule(
        "owns",
        rf"(?:i|we|{HAVE}) {ALREADY}(?:bought|purchased) (?:myself )?(?![^\n]{{0,80}} for (?:my|a|an|his|her|their"
        rf"|our) )"
        rf"(?P<object>{_HOW_MANY} (?!(?:few|couple|bunch|bit) )[^\n]{{2,80}})",
        "{me}",
        confidence=LIKELY,
    ),
    rule(
        "owns",
        rf"(?:(?:i|we|{HAVE}) {ALREADY}(?:started|opened|launched|run|have|own|founded)|{AM} {ALREADY}running) "
        rf"(?P<object>(?:my|our) own {REST})",
        "{me}",
    ),
    rule(
        "owns", rf"(?P<subject>{SOMEBODY}) (?:owns|maintains|is responsible for|is in charge of|looks after) {_OBJECT}"
    ),
    rule("owns", rf"(?P<object>{_SOMETHING}{THING}) (?:is|are) (?:owned|maintained|run) by (?P<subject>{NAME})"),
    # how things stand
    rule(
        "status",
        rf"(?P<subject>(?![^\n]{{0,80}}\b(?:it|that|this|they|he|she|you|who|which|what)\b)(?:(?:the|our|my"
        rf"|all) (?:{WORDS} ){{0,4}}?{WORDS}|(?:{WORDS} ){{0,2}}?{_NAMED}(?: {WORDS})?))"
        rf"(?:'s| is| are| has been| have been)(?: now| finally| currently| already| officially"
        rf"| all)? {_STATE}\W{{0,3}}$",
    ),
)
