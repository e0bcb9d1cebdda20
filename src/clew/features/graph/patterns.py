"""What names an entity in a text, and which words join two of them.

Every pattern takes time linear in the length of the text: repetition is bounded, and a pattern that begins with a run
of characters begins only where that run does. Precise rather than eager: a word that is missed leaves a gap that other
records may close; a word that is no name joins everything with everything.
"""

from __future__ import annotations

import re

from clew.text.entities import EdgeKind

_ENDINGS = (
    r"(?:py|pyi|ipynb|jsx?|tsx?|mjs|cjs|go|rs|c|h|cc|cpp|hpp|cs|java|kt|swift|rb|php|pl|lua|sh|bash|zsh|ps1|sql|html"
    r"|s?css|vue|jsonl?|ya?ml|toml|ini|cfg|conf|env|xml|csv|md|mdx|rst|txt|log|lock|tf|proto|gradle|db|sqlite|pdf|png"
    r"|svg|onnx|parquet|service|plist)"
)

URL = re.compile(r"\bhttps?://([^\s/<>\"'`)\]]{1,100})([^\s<>\"'`)\]]{0,300})")
GIT_REMOTE = re.compile(r"\bgit@([\w.-]{3,60}):([\w.-]{1,60}/[\w.-]{1,80})")
FILE = re.compile(
    r"(?<![\w./:\\~@+-])(?:~/|\.{1,2}/|/)?"
    rf"(?:[\w.@+-]{{1,64}}/){{0,12}}[\w.@+-]{{1,64}}\.{_ENDINGS}(?![\w(/-])"
    r"|(?<![\w./-])(?:Dockerfile|Makefile|docker-compose\.ya?ml)\b"
)
FILE_ENDING = re.compile(rf"\.{_ENDINGS}\b|(?:Docker|Make)file\b")
CODE_SPAN = re.compile(r"`([^`\n]{2,80})`")
INSTALLED = re.compile(
    r"\b(?:pip3?|pipx|uv|npm|pnpm|yarn|cargo|brew|gem|poetry|conda|apt|apt-get) (?:install|add) "
    r"(?:-{1,2}[\w-]{1,20} ){0,3}([@A-Za-z][\w.@/-]{1,60})"
)
IMPORTED = re.compile(
    r"^[ \t]{0,12}(?:from ([a-z]\w{2,40})[\w.]{0,60} import\b|import ([a-z]\w{2,40})[ \t]{0,4}$)", re.MULTILINE
)
IDENTIFIER = re.compile(
    r"(?<![\w.$/-])(?:"
    r"[A-Z][a-z0-9]{1,30}(?:[A-Z][a-z0-9]{1,30}){1,6}"
    r"|[a-z][a-z0-9]{1,30}(?:_[a-z0-9]{1,30}){1,6}"
    r"|[A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){1,6}"
    r"|[a-z]\w{1,40}(?:\.\w{1,40}){0,4}(?=\(\))"
    r"|[A-Z]{2,8}-\d{1,6})(?![\w/-])"
)
CODE_SIGN = re.compile(r"[a-z0-9][A-Z]|_|\(\)|[A-Z]-\d")
"""Without one of these there is no identifier."""

ERROR = re.compile(r"(?<![\w.])[A-Z]\w{2,60}(?:Error|Exception)(?!\w)")
WORD = re.compile(r"[A-Za-z][\w.+#-]{1,30}")
HANDLE = re.compile(r"(?<![\w@./`])@([A-Za-z][\w-]{2,38})(?![\w/.(-])")
_NAME = r"[A-Z][a-zà-ÿ]{1,20}(?:[ -][A-Z][a-zà-ÿ]{1,20})?"
PERSON = re.compile(
    r"\b(?:(?:[Cc]olleague|[Tt]eammate|[Bb]oss|[Mm]anager|[Ff]riend|[Ww]ife|[Hh]usband|[Ss]ister|[Bb]rother|[Mm]entor"
    r"|[Dd]esigner|[Cc]ustomer|[Dd]r\.|[Mm]rs?\.|[Mm]s\.|[Pp]rof\."
    r"|[Aa]sk(?:ed)?|[Tt]old|[Pp]ing(?:ed)?|[Mm]et with|[Mm]eeting with|[Tt]alked to|[Ss]poke with|[Cc]all with"
    r"|[Aa]ccording to|[Rr]eviewed by|[Aa]ssigned to|[Oo]wned by) "
    rf"({_NAME})"
    rf"|({_NAME}) (?:said|says|told|asked|suggested|thinks|wants|prefers|wrote|mentioned|agreed|reviewed))\b"
)
PERSON_CUES = frozenset(
    """colleague teammate boss manager friend wife husband sister brother mentor designer customer dr. mr. mrs. ms.
    prof. ask asked told ping pinged met meeting talked spoke call according reviewed assigned owned said says suggested
    thinks wants prefers wrote mentioned agreed""".split()
)
"""Without one of these words, `PERSON` finds nobody."""

PROPER = re.compile(r"(?<=[a-z0-9,;:)] )[A-Z][A-Za-z0-9+-]{1,30}(?: [A-Z][A-Za-z0-9+-]{1,30}){0,3}(?![\w(])")
OPENING = re.compile(
    r"(?:^|(?<=[.!?] )|(?<=[-*] ))[A-Z][A-Za-z0-9+-]{0,30}(?: [A-Z][A-Za-z0-9+-]{1,30}){0,3}(?![\w(])", re.MULTILINE
)
BOLD = re.compile(r"\*\*([^*\n]{2,60})\*\*")
WIKI_LINK = re.compile(r"\[\[([^\]|\n]{1,80})(?:\|[^\]\n]{0,80})?\]\]")
HASHTAG = re.compile(r"(?<![\w&/#])#([A-Za-z][\w-]{2,30})\b")
FRONT_MATTER_LINE = re.compile(
    r"^[\"']?([A-Za-z][\w -]{0,30})[\"']?[ \t]{0,8}[:=][ \t]{0,8}([^\n]{0,400})$", re.MULTILINE
)
LIST_LINE = re.compile(r"^[ \t]{1,8}-[ \t]{1,4}([^\n]{1,120})$", re.MULTILINE)
PROJECT_HEADING = re.compile(r"^(?:project|projekt)(?:[: –-]{1,4})(.{2,80})$|^(.{2,80}?) project$", re.IGNORECASE)
PROJECT = re.compile(r"\b[Pp]roject ([A-Z][\w-]{1,30})\b|\b([A-Z][\w-]{1,30}) (?:project|Project)\b")
_TITLE = r"[A-Z][\w-]{1,30}(?: [A-Z][\w-]{1,30}){0,2}"
CALLED_A_PROJECT = re.compile(rf"\b({_TITLE}) is (?:an?|my|our|the) (?:[\w'-]{{1,20}} ){{0,3}}project\b")
SENTENCE_END = re.compile(r"[.!?;](?=\s)|\n")

VERB = re.compile(
    r"\b(?:"
    r"(?P<uses>uses?|using|built (?:on|with)|runs? on|running on|powered by|written in|based on|depends? on"
    r"|depending on|rel(?:y|ies) on|requires?|needs|imports|deployed (?:on|to|with)"
    r"|stor(?:es?|ed|ing) (?:\w{1,20} ){0,3}in|integrates? with|backed by)"
    r"|(?P<blocked_by>(?:blocked|stuck|held up|waiting) (?:by|on|for|until))"
    r"|(?P<blocks>blocks|is blocking)"
    r"|(?P<evaluates>compar(?:es?|ed|ing)(?: (?:with|to|against))?|evaluat(?:es?|ed|ing)|benchmark(?:s|ed|ing)?"
    r"|versus|vs\.?|considering|prototyp(?:ed|ing) with|tr(?:ied|ying) out)"
    r"|(?P<decides>decided (?:to (?:use|adopt|keep|try|go with|move to|switch to|drop)|on|for|against)|chose|picked"
    r"|settled on|went with|going with|switched to|switching to|migrat(?:ed|ing) to|moved to|adopted)"
    r")\b"
)
"""Words that say how what stands before them is joined with what stands after, in lower case."""

INSTEAD = re.compile(r"\b(?:instead of|rather than|in place of|over|not)\b")
"""What comes after these was left aside."""

LISTED = re.compile(r"[\s,/&+]{0,4}(?:(?:and|or|plus|also|both|then|the|a|an|our|its)[\s,]{1,3}){0,4}[`*\"']{0,3}\Z")
"""What may stand between two things of which one verb is said."""

DECISION = re.compile(r"\b(?:decided (?:to|on|for|against)|we chose|settled on|went with|decision:)[ ]?")
NEGATION = re.compile(r"\b(?:not|never|no longer|don't|doesn't|won't|without|stopped|instead of)[^.\n]{0,12}$")

EDGE_OF_VERB = {
    "uses": EdgeKind.USES,
    "blocked_by": EdgeKind.BLOCKED_BY,
    "blocks": EdgeKind.BLOCKED_BY,
    "evaluates": EdgeKind.EVALUATES,
    "decides": EdgeKind.DECIDES,
}

EDGE_OF_PREDICATE = {
    "uses": EdgeKind.USES,
    "depends_on": EdgeKind.USES,
    "blocked_by": EdgeKind.BLOCKED_BY,
    "evaluates": EdgeKind.EVALUATES,
    "decision": EdgeKind.DECIDES,
}
"""What a fact's predicate says of its subject and object; every other one, that they belong together."""
