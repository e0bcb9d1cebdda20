"""How plain English says what someone means to do: intent, and what will set it off."""

from __future__ import annotations

import re

_SOON = r"(?:(?:just|also|definitely|probably|finally|actually|really|now|still|totally) ){0,2}+"
_NO_PLAN = (
    r"(?!(?:be|have|let|keep|get (?:back|there)|see (?:you|ya|how|what)|check it|give it|never|always|remember|need"
    r"|make sure|do (?:it|this|that|so|my best)|try (?:my best|to|it|that|them|harder)|tell you|know|miss|love"
    r"|support|say"
    r"|admit|bet)\b)"
)

INTENT = re.compile(
    rf"(?:(?:i|we)(?:'ll| will| shall) {_SOON}|(?:i'm|i am|we're|we are) {_SOON}(?:going to|gonna|planning to"
    rf"|planning on"
    rf"|planning|set to|scheduled to|about to) |(?:i|we) {_SOON}(?:plan to|plan on|intend to"
    rf"|aim to|will be|'ll be) ){_NO_PLAN}(?P<what>[^\n]{{3,200}})",
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
"""What stands in the calendar already; only with a later day beside it, since the same words tell of the present."""

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
"""How a plan may name its day, with what leads into it."""

CONDITION = re.compile(
    r"(?<!see )(?<!ask )(?<!know )(?<!check )(?<!wonder )(?<!wondering )(?<!sure )\b(?P<condition>(?:when|once"
    r"|as soon as|after|if|whenever|until|before) (?!\w+ing\b|that\b|all\b|then\b|necessary\b|possible\b|needed\b"
    r"|ever\b|you\b)"
    r"[^\n,;]{4,120})",
    re.IGNORECASE,
)
"""What has to happen first."""
