"""What the gate looks for in the statements of a turn: wishes, people, dates, quantities and facts.

The signs of `signs.py` find the plainest forms; these add how people say the same in passing. A wish is also a rule or
a decision; a fact is also a setting, an address, a job, a result, a correction or a plan. What only reacts ("I hope
so", "I'll check it out", "that's great") is none of them. The patterns are for statements alone: see `statements.py`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from clew.text.grading.signs import NATURAL_SIGNS, RELATION, Sign, make_sign

_ADVERBS = (
    r"(?: (?:really|also|actually|just|recently|finally|already|always|usually|currently|still|once|even|all|both|now"
    r"|often|never|particularly|especially|more|most|so|quite|pretty|very|super|mostly|only|sometimes|personally|do|did"
    r"|myself|not|\w{2,12}ly)){0,3}+"
)
_HAVE = r"(?:'ve| have| had)"
_BE = r"(?:'m|'re| am| are| was| were)"
_PRAISE = (
    r"(?:great|good|nice|cool|awesome|amazing|wonderful|fantastic|perfect|lovely|interesting|helpful|fun|fine|ok(?:ay)?"
    r"|bad|shame|pity|wrap|deal|relief|lot|bit|must|pleasure|best|worst)\b"
)


def _said_of_oneself(*endings: str) -> str:
    """Clauses of "I" and "we". They share the test for their beginning: each on its own would take its time anew."""
    return rf"(?:i|we|me and my \w{{1,20}})(?:{'|'.join(endings)})"


# --- wishes: preferences, rules, decisions -------------------------------------------------------------

_WISHES = (
    _said_of_oneself(
        rf"{_BE}?{_ADVERBS} (?:interested in|into|drawn to|keen on|fond of|partial to|comfortable (?:with"
        rf"|\w{{3,20}}ing)"
        r"|fascinated by|hooked|leaning towards|obsessed|addicted|more of an?|allergic|vegan|vegetarian|scared of"
        r"|afraid of|tired of|sick of|good at|bad at)\b",
        rf"(?:'d|'ve)?{_ADVERBS} (?:prefer|preferred|loved?|hated?|dislike|adore|avoid|enjoy(?:ed)?|liked?|can't stand"
        r"|don't like|didn't like)\b(?! (?:to (?:know|ask|hear|see|get|learn|try)|the idea|if|that)\b)",
        rf"{_HAVE}?{_ADVERBS} (?:decided|agreed|chose|chosen|opted|settled|concluded|picked|switched|committed)\b",
        rf"(?:'ll| will|'m going to|'re going to|'re| are|'m){_ADVERBS} (?:stick|use|using|go with|going with"
        r"|switch(?:ing)?|keep (?:the|using|it as)|avoid|stop)\b",
        r"(?:'d| would| do)?(?: really| also| just)? (?:want|wanna|wish|intend|aim)(?:ed|s)? (?!to (?:know|ask|hear"
        r"|see|say"
        r"|thank|make sure|be sure|explore|learn|check|help|consider)\b)",
    ),
    r"(?:my|our)(?: \w{1,16}){0,2} (?:fav(?:e|s|ou?rites?)?|go-to|preferred|preference|ideal|pick|choice)\b",
    r"my (?:ideal|dream|go-to|top|usual)\b",
    r"let's (?:use|keep|stick|go with|switch|adopt|settle|call|rename|drop|try keeping)\b"
    r"(?! (?:\w{2,16}ing|in touch|it up)\b)",
    r"(?:decided|resolved|agreed) (?:to|on|that|against)\b|decision(?: is| was|:)",
    r"(?:must|mustn't)(?: not| never| always| only| also)?(?= [a-z])(?! (?:have|say|admit|see|read|watch|think|know"
    r"|feel)\b)"
    rf"(?! be (?:so|such|hard|tough|exciting|an?|the|\w{{3,16}}ing|{_PRAISE}))",
    r"should(?:n't| not| never| always| only| also| just| probably)? (?:be(?! (?:able|worth|careful|easy|possible|there"
    rf"|here|{_PRAISE}))|use|return|have|stay|contain|keep|default|point|say|stop|come|live|run|look|match|throw"
    rf"|show)\b",
    r"needs? to (?:be|have|use|stay)\b|needs? (?:explicit|its own)\b",
    r"from now on\b|going forward\b|instead of\b|rather than\b|no need (?:for|to)\b|as (?:much|little) as possible\b",
    r"at most\b|no more than\b|no longer than\b|not more than\b|max(?:imum)?\.? \d",
    r"(?:ask|check with|tell|show) (?:me )?(?:before|first)\b|before you \w|i'd be grateful\b|\w{2,20} only(?=[.,!;]"
    r"|$)",
    r"(?:nothing|nobody|no one) (?:\w{2,20} )?(?:goes|gets|leaves|enters|runs|ships|with)\b",
    r"don't want\b|can't (?:imagine|live|do) [\w ]{0,20}without\b",
    r"(?:immer|niemals|nie|nicht mehr|ab jetzt|künftig|ich möchte|entschieden|beschlossen|bitte (?:nicht|keine|immer"
    r"|nie)|toujours|jamais|désormais|à partir de maintenant|je veux|pas d[e']|décidé|siempre|nunca|a partir de ahora"
    r"|quiero|decidimos|всегда|никогда|решили)\b",
)
_ORDERS = (
    r"(?:^|[.!?\n,;:]\s{0,3}|\bplease |\band |\bbut )(?:always|never|don't ever|do not|don't|no more|only|avoid"
    r"|stop(?= \w{2,16}ing))(?= \w)(?! (?:forget|worry|hesitate|mind|know|you|think|give up|stop|let|be|in|an?|the"
    r"|had|been"
    r"|thought|too|that|really|here|there|so|up|down|happy|nice|good|great|fun|wanted|gonna|again|ever)\b)",
    r"(?:^|[.!?\n,;]\s{0,3})no (?!(?:problem|worries|idea|need|way|one|doubt|thanks|time|matter|big|wonder|clue|rush"
    r"|longer|more|that|it|i|you|this|not|just|we|don't|the|surprise|news|luck|rest|sign|chance|answer|response|hurry"
    r"|pressure|kidding)\b)\w{2,20}(?: \w{2,20}){0,4}(?=[!.,]|$)",
    r"以后|不要|别再|别提|必须|必須|一律|禁止|改用|决定|決定|ないで|に決め|必ず|결정|하지 마|말아|않게|반드시|항상",
)

# --- people, dates, quantities -------------------------------------------------------------------------

_PEOPLE = (
    rf"(?:[Mm]y|[Oo]ur)(?: (?:best|older|younger|little|big|new|whole))? (?:{RELATION}|family|parents?|kids?"
    rf"|child(?:ren)?"
    r"|fianc[eé]e?|grand\w{3,8}|team|crew|students?|instructor|coach|pets?|tutor|therapist|landlord|clients?|customers?"
    r"|company|employer|church)s?\b",
    rf"(?:I|i|[Ww]e){_HAVE}?{_ADVERBS} (?:met|know|knew|befriended|dated|married|work(?:ed)? with|(?:hang"
    rf"|hung) out with)\b"
    r"(?! (?:that|what|how|if|it|the|you|why|this)\b)",
    r"(?:jobs?|careers?|work(?:ed|s|ing)?|employed|hired|promoted|roles?|positions?|intern(?:s|ship)?) (?:as|at|for"
    r"|with) "
    r"(?!(?:it|that|this|you|me|now|least|the first|well|these|those)\b)",
    r"(?:lost|quit|left|started|got|love|hate|have|changed?) (?:my|an?|the)(?: new| old)? job\b",
)
_DATES = (
    r"(?:recently|lately|nowadays|these days|the other day|this (?:morning|afternoon|evening)|a while (?:ago|back|now)"
    r"|(?:days|weeks|months|years) back|for (?:a while|ages|(?:\w{1,12} )?(?:years|months|weeks|days))|since (?:then|i)"
    r"|as a kid|growing up|in (?:high school|college|school|university)|when i was|at (?:the )?age|upcoming|every ?day"
    r"|(?:last|next|this) (?:mon|tues?|wed|thu(?:rs)?|fri|sat|sun)|daily|weekly|monthly|regularly"
    r"|every (?:other )?(?:day|week|month|year|morning|evening|night)|(?:early|late|mid)[- ]\w{3,9}"
    r"|(?:few|couple of|several) (?:days|weeks|months|years)|starting (?:tomorrow|next|today|on|in))\b",
    r"\d{1,2}/\d{1,2}(?![\w/])",
)
_QUANTITIES = (
    r"(?=[a-f]{0,7}\d)[0-9a-f]{6}\b|(?<![\w.])v?\d{1,4}(?:\.\d{1,4}){1,3}\b|set to \d"
    r"|\d{1,6}[- ]?(?:k|x|day|week|month|year|hour|minute|min|mile|yard|foot|page|part|person|ms|px|°[fc])s?\b"
    r"|(?:twice|first place|second place|third place)\b",
)
_SIZES = (r"#[0-9a-f]{3,8}\b|[<>≥≤] ?\d|\d ?%",)

# --- facts: lives, settings, addresses, results, corrections, plans ------------------------------------

_NOT_SUPPOSED = (
    r"(?<!\bif )(?<!\bas )(?<!sure )(?<!ensure )(?<!else )(?<!think )(?<!when )(?<!whenever )(?<!that )(?<!until )"
    r"(?<!unless )(?<!can )(?<!\bhow )(?<!what )"
)
"""Behind these words a clause tells what may be, not what is."""
_TALK = (
    r"(?:think|thought|know|knew|guess|guessed|hope|hoped|mean|meant|see|agree|agreed|believe|bet|wonder|wondered"
    r"|understand|understood|appreciate|appreciated|suppose|want|wanted|wanna|need|needed|gotta|ask|asked|like|liked"
    r"|love|loved|enjoy|enjoyed|prefer|hate|promise|swear|wish|care|mind|doubt|assume|imagine|can|can't|cannot|could"
    r"|couldn't|will|won't|would|wouldn't|might|may|must|should|shouldn't|shall|didn't|don't|do|did|haven't|hadn't|am"
    r"|are|was|were|wasn't|weren't|have|had|try|tried|feel|felt|look|looked|hear|thank|say|said|find|recommend|suggest"
    r"|not|and|or|both|all|got (?:it|this|you|that)|get|last|run out|go through|to|is|in|on|at|if|but|with|for|of|as)\b"
)
"""Verbs and others behind "I" that tell nothing of one's life."""
_TALKING = (
    r"(?:thinking|wondering|looking|considering|hoping|asking|talking|saying|getting|having|going|dying|kidding|joking"
    r"|guessing|assuming|rooting|cheering|feeling|trying to (?:figure|find|decide|understand)|interesting|anything"
    r"|something|nothing|being|meaning|missing)\b"
)
_FACTS = (
    _said_of_oneself(
        rf"{_HAVE}(?: \w{{2,12}}ly| also| just| already| been| always){{0,3}}+ (?!(?:thinking|wondering|looking"
        rf"|considering"
        r"|meaning|no|to|any|another|some|an?|the|not|got to)\b)\w{2,16}(?:ed|en|ing)\b",
        rf"{_HAVE}(?: also| just| already| always){{0,2}}+ (?:been (?:to|in|on|an?|into|through)|had|got|gotten|made"
        rf"|met|read"
        r"|won|lost|found|built|bought|left|set|put|become|begun|come|done|gone|grown|heard(?! that)|kept|led|run|sold"
        r"|spent|taught)\b",
        r" don't (?!(?:think|know|understand|see|want|like|mind|care|believe|get|have any|need)\b)\w{2,16}",
        rf"{_BE}{_ADVERBS} (?:(?!{_TALKING})\w{{2,16}}ing\b|(?:an?|the|from|based|born|married|divorced|single|retired"
        r"|engaged|pregnant|used to|part of|new to|done with|(?:in|on|at) (?:my|the|an?)|after)\b"
        rf"(?! {_PRAISE})|\d)",
        rf"(?:{_BE}|'ve been| have been){_ADVERBS} (?:planning|considering|meaning to|trying"
        rf"|having (?:some )?(?:issues|problems"
        r"|trouble)|(?:going to|gonna) (?!keep|try|be fine|check|give)\w{1,16}"
        r"|thinking (?:of|about) [^.\n]{0,60}\b(?:my|our|starting|taking|moving|trying))\b",
        r"(?:'ll| will) (?:start(?! (?:by|with)\b)|go to|be (?:at|in|on|away|\w{3,16}ing)|meet|send|move|travel"
        r"|visit|attend"
        r"|show)\b",
    ),
    _NOT_SUPPOSED
    + _said_of_oneself(
        rf"{_ADVERBS} (?:have|had) (?!(?:to|no idea|any|another|a (?:few|question|couple|lot|good idea|great|feeling"
        rf"|nice"
        r"|blast)|you|been|in mind|it|that|questions|fun|some)\b)\w",
        rf"{_ADVERBS} (?!{_TALK})[a-z]{{2,16}}(?: (?!(?:if|that|you|how|why|what)\b)\w|$|[,.;!])",
    ),
    r"my (?:[a-z'-]{1,24} ){1,4}(?:is|was|are|were|has|have|had|lives?|works?|died|moved|got|gets|started|turned|broke"
    r"|needs?|helps?|wants?|loves?|likes?|does|did|came|went|keeps?|runs?|expires?|costs?)\b"
    r"|my [a-z-]{1,24}'s (?:been|an?|the)\b",
    r"(?<!hope )(?<!bet )(?<!think )(?<!\bif )(?:he|she|they)"
    r"(?:'s|'re|'ve|'d| is| are| was| were| has| have)?(?: also| really| even| just)? (?:(?:an?|the) "
    r"|(?:works?"
    r"|lives?|moved|stud(?:y|ies|ied)|married|called|named|from|allergic|recommended|told|said|bring|gave|sent|likes?"
    r"|loves|loved|prefers?|wants?|helped|got|started|teach(?:es)?)\b)",
    r"(?:called|named|titled|known as|nicknamed) [\"'a-z]",
    r"(?:it|that|this|which|there)(?:'s| is| was|'re| are| were) (?:actually |also |really |basically )?(?:because\b"
    r"|(?:an?|the|my|our|one of)"
    rf" (?!{_PRAISE}|(?:\w{{2,16}} )?(?:choice|idea|goal|list|question|point|place|spot|one|tips?|way|activity|memory"
    r"|reminder|feeling)\b)|due to\b|downtown\b|located\b|caused\b|(?:on|in|at|under) (?:the|port|my|our)\b"
    r"|not (?:the|an?|what|how|where)\b)",
    r"turn(?:s|ed) out (?:that|to|it)\b|caused by\b|because of\b|root cause\b|workaround\b|fixed (?:by|it|with)\b"
    r"|no longer\b|works? (?:with|when|if|now|again|only)\b|used to be\b"
    r"|(?:that|which) (?:did|fixed|solved|caused|broke) (?:it|that|this)\b",
    r"the (?:problem|issue|bug|cause|reason|fix|culprit|solution|answer|difference|result|deadline|budget|plan|password"
    r"|address|port|version|default|owner|meeting|name|key|setting|value|limit|folder|branch|server|database)"
    r" (?:is|was|are|were|for)\b",
    r"(?:lives|runs|listens|hosted|deployed|located|reachable|defaults) (?:at|on|under|to) "
    r"|(?:lives|stored|kept|located|based) in ",
    r"(?:uses|requires|depends on|belongs to|runs on|points to)\b"
    r"|(?:is|are|was|were) (?:blocked|owned|managed|maintained|written|built|hosted|run|led|paid|signed) (?:by|in|on"
    r"|with)\b",
    r"(?:brings|brought|helps|helped|keeps|kept|taught|calms) (?:me|us)\b|part of (?:my|our) (?:life|lives|day"
    r"|routine)\b"
    r"|one of my \w",
    r"(?:is|are|was|be|to|as|uses?|version|port) [`'\"]?(?=[\w#./:@-]{0,40}\d)[#\w./:@-]{3,60}"
    r"|(?:at|on) [`'\"]?(?=[\w#./:@-]{0,40}\d[\w-]{0,20}[./:@]\w)[\w#./:@-]{3,60}",
    r"(?:is|are|lives?|runs?|moved|listens|hosted|deployed|stored|kept) (?:now )?(?:(?:at|under|on|in|to) )?@(?!\w)",
    r"as someone \w|as an? (?:\w{2,16} )?(?:\w{2,16}(?:er|or|ist|ian|ant|ent|mom|dad))\b",
)
_SHORT_ANSWERS = (
    r"(?:^|[.!?\n]\s{0,3}|\b(?:and|but|so|yeah|yep|oh|well|actually|thanks)\W{1,2})(?:(?:just|recently|finally|also"
    r"|still) )?"
    r"(?:lost|got|bought|started|starting|trying|working|finished|quit|moved|joined|made|met|had|been|launched|went"
    r"|took"
    r"|won|found|using|reading|learning|planning|writing|reducing|cutting|eating|playing|training|watching|living)\b "
    r"(?!(?:great|it|that|this|so|any|you|time|to)\b)",
    r"[\"“][A-Za-z][^\"”\n]{2,60}[\"”]",
)
"""Answers that leave the speaker out, and titles."""


def _widen(name: str, words: Sequence[str], others: Sequence[str] = ()) -> Sign:
    """The sign of that name with more to find, at the same weight."""
    plain = next(sign for sign in NATURAL_SIGNS if sign.name == name)
    added = make_sign(name, plain.weight, words=words, others=others, lower_case=plain.lower_case)
    both = re.compile(f"{plain.pattern.pattern}|{added.pattern.pattern}", re.MULTILINE)
    return Sign(name, plain.weight, both, plain.lower_case)


STATEMENT_SIGNS = (
    _widen("preference", _WISHES, _ORDERS),
    _widen("person", _PEOPLE),
    _widen("date", _DATES),
    _widen("quantity", _QUANTITIES, _SIZES),
    _widen("fact", _FACTS, _SHORT_ANSWERS),
)
"""With the names and weights of `NATURAL_SIGNS`."""
