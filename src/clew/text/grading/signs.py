"""What the gate looks for in a text, and what each sign weighs.

Every pattern takes time linear in the length of the text: repetition is bounded, and a pattern that
starts with a run of characters starts only at the beginning of that run. Alternatives that start
with a word share one test for the start of a word, and case is ignored by reading the text in lower
case; both are several times faster than leaving it to each alternative. Words are English first;
dates, quantities, preferences and facts also cover other languages where a few words go a long way.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sign:
    """One thing to look for. `weight` is what its presence, or each occurrence, adds."""

    name: str
    weight: float
    pattern: re.Pattern[str]
    lower_case: bool
    """Whether the pattern is written for text in lower case."""


def make_sign(
    name: str,
    weight: float,
    *,
    words: Sequence[str] = (),
    others: Sequence[str] = (),
    lower_case: bool = False,
) -> Sign:
    """`words` are alternatives that match from the start of a word, `others` anywhere."""
    at_words = [rf"\b(?:{'|'.join(words)})"] if words else []
    return Sign(name, weight, re.compile("|".join([*at_words, *others]), re.MULTILINE), lower_case)


# --- is this text technical? --------------------------------------------------------------------------

_FILE_ENDING = (
    r"(?:py|pyi|ipynb|jsx?|tsx?|mjs|cjs|go|rs|c|h|cc|cpp|hpp|cs|java|kt|swift|rb|php|pl|lua|sh|bash|zsh|ps1"
    r"|sql|html|s?css|vue|jsonl?|ya?ml|toml|ini|cfg|conf|env|xml|csv|md|rst|txt|log|lock|tf|proto"
    r"|gradle|db|sqlite|pdf|png|svg|zip|gz|whl)"
)
_FILE_PATHS = (
    r"(?<![\w./:\\~-])(?:"
    r"(?:~|\.{1,2})?/[\w.@+-]{1,64}(?:/[\w.@+-]{1,64}){1,16}"
    r"|(?:~|\.{1,2})/[\w.@+-]{1,64}"
    rf"|[\w-]{{1,64}}(?:/[\w-]{{1,64}}){{0,16}}(?:\.[\w-]{{1,24}}){{0,3}}\.{_FILE_ENDING}\b(?!\()"
    r"|[A-Za-z]:\\[\w.$ -]{1,64}"
    r"|(?:Dockerfile|Makefile|\.gitignore|\.env|\.bashrc)\b)"
)
_ENDPOINT_WORDS = (
    r"[Hh]ttps?://[^\s\"'<>]",
    r"(?:GET|POST|PUT|PATCH|DELETE|HEAD)\s{1,4}/[\w{:]",
    r"(?:localhost|127\.0\.0\.1|0\.0\.0\.0):\d{2,5}\b",
)
_ENDPOINT_PATH = r"(?<![\w/])/(?:api|v\d|graphql|rpc)\b"
_HASH = r"(?=[0-9a-f]{0,63}\d)(?=[0-9a-f]{0,63}[a-f])[0-9a-f]{7,64}\b"

TECHNICAL_SIGNS = (
    make_sign("code_fence", 0.5, others=[r"^[ \t]{0,12}(?:```|~~~)"]),
    make_sign("file_path", 0.4, others=[_FILE_PATHS]),
    make_sign(
        "function_definition",
        0.4,
        words=[
            r"(?:def|func|function|fn|fun)\s{1,4}\w{1,64}\s{0,4}[(<\[]",
            r"class\s{1,4}[A-Z]\w{0,64}\s{0,4}[:({]",
            r"(?:const|let|var)\s{1,4}\w{1,64}\s{0,4}=\s{0,4}(?:async\s{0,4})?(?:\(|function\b)",
            r"(?:public|private|protected|static)\s{1,4}[\w<>\[\]]{1,64}\s{1,4}\w{1,64}\s{0,4}\(",
        ],
    ),
    make_sign(
        "shell_command",
        0.4,
        words=[
            r"git (?:add|commit|push|pull|clone|checkout|switch|rebase|merge|reset|stash|log|diff|status|fetch)\b",
            r"(?:npm|npx|yarn|pnpm|pip3?|pipx|uv|cargo|brew|apt|apt-get|gem|poetry|conda) "
            r"(?:install|add|run|build|test|update|upgrade|publish|remove|sync|ci)\b",
            r"(?:docker|docker-compose|kubectl|podman|helm|terraform|systemctl) "
            r"(?:run|build|ps|exec|logs|pull|push|compose|up|down|apply|get|describe|delete|plan|start|stop|restart)\b",
            r"(?:curl|wget|ssh|scp|rsync|chmod|chown|grep|sed|awk|tar|ls|rm|cp|mv|cat|find|make|python3?|node|pytest) "
            r"(?:-{1,2}[A-Za-z]|\.{0,2}/|[\w./-]{1,64}\.(?:py|js|sh)\b)",
            r"sudo [a-z]",
        ],
        others=[r"^[ \t]{0,12}\$ \S"],
    ),
    make_sign("endpoint", 0.3, words=_ENDPOINT_WORDS, others=[_ENDPOINT_PATH]),
    make_sign(
        "stack_trace",
        0.5,
        words=[
            r"Traceback \(most recent call last\)",
            r"at [\w.$<>/]{1,128} ?\([^)\n]{0,200}:\d",
            r"File \"[^\"\n]{1,200}\", line \d",
            r"panicked at |goroutine \d{1,9} \[|[Ss]egmentation fault\b|core dumped\b",
        ],
        others=[r"(?<![\w.])[A-Za-z_][\w.]{0,80}(?:Error|Exception): "],
    ),
    make_sign(
        "hash",
        0.3,
        words=[_HASH, r"0x[0-9A-Fa-f]{2,64}\b", r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-"],
    ),
)

TECHNICAL_SATURATION = 1.5
"""The sum of weights from which a text counts as wholly technical."""

# --- what a technical text names, says was done, and defines ------------------------------------------

ARTEFACT_SIGNS = (
    make_sign("file_path", 0.4, others=[_FILE_PATHS]),
    make_sign("function_reference", 0.3, others=[r"(?<![\w.])[A-Za-z_][\w.]{1,80}\((?!s\)|es\))"]),
    make_sign(
        "error_code",
        0.5,
        words=[
            r"E(?!RROR|VERY|VENT|NGLISH|XCEPT|XAMPLE)[A-Z]{4,14}\b",
            r"[A-Z]{1,6}[-_]?\d{3,5}\b",
            r"[A-Z][A-Za-z]{2,60}(?:Error|Exception)\b",
            r"(?:http|HTTP|[Ss]tatus|[Ss]tatus code|[Ee]xit code|[Ee]xit status|errno|[Ee]rror code|[Ee]rror)"
            r"[ :=#]{1,3}\d{1,5}\b",
            r"SIG(?:SEGV|KILL|TERM|ABRT|PIPE|INT|BUS)\b",
        ],
    ),
    make_sign(
        "git_reference",
        0.4,
        words=[
            _HASH,
            r"HEAD(?:[~^]\d{0,3})?\b",
            r"(?:origin|upstream|refs)/[\w./-]{1,64}",
            r"(?:PR|pr|MR|[Pp]ull request|[Mm]erge request|[Ii]ssue) ?#?\d{1,7}\b",
            r"(?:branch|tag) [`'\"]?[\w.]{1,64}[/-][\w./-]{1,64}",
        ],
    ),
    make_sign("endpoint", 0.3, words=_ENDPOINT_WORDS, others=[_ENDPOINT_PATH]),
)

ACTION_SIGNS = (
    make_sign(
        "architectural_decision",
        0.5,
        words=[
            r"(?:we|i|let's|team)(?:'ve|'ll|'re| have| will| are| should)? "
            r"(?:decided|chose|choose|opted|agreed|settled on|picked|go with|going with|going to use"
            r"|switch(?:ed|ing)? to)\b",
            r"(?:architecture|architectural|design decision|trade-?offs?|adr)\b",
            r"(?:migrat(?:e|ed|ing)|refactor(?:ed|ing)?|redesign(?:ed|ing)?|replac(?:e|ed|ing)"
            r"|rewr(?:ite|ote|itten)) [^.\n]{0,60}\b(?:from|to|with|into|as)\b",
        ],
        lower_case=True,
    ),
    make_sign(
        "fix",
        0.4,
        words=[
            r"(?:fix(?:ed|es|ing)?|resolv(?:e|ed|es)|patch(?:ed)?|hotfix|bugfix|repaired|debugged|root cause"
            r"|workaround|regression|reverted)\b"
        ],
        lower_case=True,
    ),
    make_sign(
        "milestone",
        0.3,
        words=[
            r"(?:releas(?:e|ed|ing)|shipped|deploy(?:ed|ment)?|launched|merged|completed|implemented|went live"
            r"|milestone|tests? (?:pass|passed|passing|are green|is green)|all green|v\d{1,4}\.\d{1,4})\b"
        ],
        lower_case=True,
    ),
    make_sign(
        "configuration_change",
        0.4,
        words=[
            r"(?:sets?|changed?|changing|updated?|configured?|enabled?|disabled?|increased?|decreased?"
            r"|lower(?:ed)?|raised?|bump(?:ed)?|add(?:ed)?|removed?) [^.\n]{0,60}"
            r"\b(?:config|configuration|settings?|flags?|timeouts?|limits?|env|environment variables?|port"
            r"|option|threshold|parameter|version|variable|default)\b",
            r"[a-z][a-z0-9]{0,30}_[a-z0-9_]{1,40}=\S",
        ],
        others=[r"(?<![\w-])--[a-z][\w-]{1,40}=\S"],
        lower_case=True,
    ),
)

TECHNICAL_DENSITY_SIGNS = (
    make_sign(
        "definition",
        0.4,
        words=[
            r"(?:def|class|interface|struct|enum|trait|func|function|fn|typedef)\s{1,4}\w{1,64}\s{0,4}[(:{<=]",
            r"type\s{1,4}\w{1,64}\s{0,4}[={]",
            r"(?:is|are) defined as\b",
            r"is an? (?:function|class|method|module|service|library|protocol|interface|endpoint|wrapper)\b",
        ],
        lower_case=True,
    ),
    make_sign(
        "data_structure",
        0.3,
        words=[
            r"(?:dict|dictionary|hash ?map|hash ?table|array|linked list|queue|stack|tuple|schema|b-?tree|bitmap"
            r"|heap|json object|foreign key|primary key|vec|vector|dataclass|namedtuple|create table)\b",
            r"(?:list|set|map|optional)\s?[\[<]\s?\w",
        ],
        lower_case=True,
    ),
    make_sign(
        "dependency",
        0.3,
        words=[
            r"(?:import|from|use|require|include)\s{1,4}[\w.\"'<{*@/]{1,80}(?:\s{1,4}(?:as|import)\b|;|::|\")",
            r"import [\w.]{1,80}$",
            r"require\([\"']",
            r"(?:depends on|dependency|dependencies|requirements\.txt|package\.json|pyproject\.toml|cargo\.toml"
            r"|go\.mod)\b",
        ],
        others=[r"(?<![\w.-])[a-z][\w.-]{0,48}(?:==|>=|~=|@\^?)\d"],
        lower_case=True,
    ),
    make_sign(
        "test",
        0.2,
        words=[
            r"(?:pytest|unittest|unit tests?|integration tests?|test suite|test case|jest|vitest|assert(?:ion)?s?)\b",
            r"test_\w{1,64}|(?:expect|describe|assert\w{0,24})\(",
        ],
        lower_case=True,
    ),
    make_sign(
        "doc_comment",
        0.2,
        others=[r'"""|/\*\*|(?<!/)///(?!/)|(?<!\w)@(?:param|returns?|throws)\b|:(?:param|returns?|raises)\b'],
    ),
)

# --- what a person says about their life and wishes ---------------------------------------------------

_NOT_A_PERSON = (
    r"(?=[A-ZÀ-ÖØ-ÞА-Я])(?!(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|January|February|March|April|May|June|July"
    r"|August|September|October|November|December|Christmas|Easter|Halloween|Thanksgiving|English|French"
    r"|German|Spanish|Italian|Chinese|Japanese|Korean|Russian|American|European|British|Indian|Python|Java"
    r"|Docker|Linux|Windows|Google|Microsoft|Amazon|Apple|Postgres|React|Redis|Rust|Swift|Ruby|True|False|None"
    r"|Null|Error|The|This|That|These|Those|There|Then|They|What|When|Where|Which|Who|Why|How|And|But|Yes|Not"
    r"|Just|Let|Can|Did|Does|Are|Was|Have|Has|Here|Hey|Oh|Ok|Okay|Wow|Thanks|Thank|Please|Also|Anyway|Well"
    r"|Sure|Great|Good|Nice|My|Your|His|Her|Our|Their|It|Its|We|You|He|She|If|In|On|At|So|To|No|All|Any|Some"
    r"|God|Internet)\b)"
)
_NAME = rf"{_NOT_A_PERSON}\w[a-zà-öø-ÿа-я]{{1,24}}(?![\w(]|[.:]\w)"
RELATION = (
    r"(?:friend|wife|husband|partner|girlfriend|boyfriend|brother|sister|mother|father|mom|mum|dad|son|daughter"
    r"|uncle|aunt|cousin|boss|manager|colleague|coworker|neighbou?r|teacher|doctor|dog|cat|nephew|niece|roommate)"
)
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_UNIT = (
    r"(?:%|percent|kg|kilos?|grams?|lbs?|pounds?|km|kilomet(?:er|re)s?|met(?:er|re)s?|miles?|feet|inch(?:es)?"
    r"|lit(?:er|re)s?|seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|nights?|weeks?|months?|years?|decades?"
    r"|dollars?|bucks|euros?|people|persons?|kids|children|times|degrees|[kmgt]b|users|requests)(?!\w)"
)
_NUMBER_WORD = (
    r"(?:two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|fifty|hundred|thousand|dozen"
    r"|few|several)"
)

NATURAL_SIGNS = (
    make_sign(
        "preference",
        0.4,
        words=[
            r"(?:i|we)(?:'d|'ve| would| really| do| also| always| usually| just| much){0,3} "
            r"(?:prefer|like|love|enjoy|hate|dislike|adore|avoid|favou?r|loved|enjoyed|hated|can't stand"
            r"|don't (?:like|want))\b",
            r"(?:i|we)(?:'d| would) rather\b",
            r"my (?:all-time )?(?:favou?rites?|preferred|preference)\b",
            r"i(?:'m| am) (?:really |so |not )?"
            r"(?:a (?:big |huge )?fan|into|fond of|allergic to|obsessed with|passionate about)\b",
            r"(?:please|always|never) "
            r"(?:always|never|don't|do not|use|keep|call me|remember|avoid|write|answer|reply)\b",
            r"(?:me gusta|me encanta|prefiero|odio|prefiro|eu gosto|j'aime|j'adore|je préfère|je déteste"
            r"|ich mag|ich liebe|ich bevorzuge|lieblings\w{0,24})\b",
        ],
        others=[r"喜欢|喜歡|讨厌|討厭|偏好|好き|嫌い|좋아|싫어|люблю|предпочита|нравится|ненавижу"],
        lower_case=True,
    ),
    make_sign(
        "person",
        0.3,
        words=[
            rf"(?:[Mm]y|[Hh]is|[Hh]er|[Oo]ur|[Tt]heir) {RELATION},? {_NAME}",
            rf"(?:Mr|Mrs|Ms|Dr|Prof)\.? {_NAME}",
            rf"(?:[Hh]ey|[Hh]i|[Hh]ello|[Tt]hanks|[Tt]hank you|[Dd]ear|[Bb]ye|[Ww]ow|[Cc]ongrats),? {_NAME}",
            rf"(?:met|named|called|name is|with|told|asked|saw|visited|married|and|from|by|for|to) {_NAME}"
            r"(?= (?:and|said|told|is|was|has|who|at|about|again|yesterday|today|last|this|on|in)\b|[,!?.]|$)",
            rf"{_NAME} (?:said|told|asked|says|thinks|likes|loves|wants|prefers|lives|works|and I|called|moved"
            r"|turned)\b",
            rf"{_NAME}'s (?:birthday|wedding|house|job|team|place|mom|dad|wife|husband|family|idea|party)\b",
        ],
        others=[r"[\u4e00-\u9fff](?:先生|女士|小姐|老师|老師|さん|くん|ちゃん|様)", r"[가-힣]{2}(?:씨|님)"],
    ),
    make_sign(
        "date",
        0.3,
        words=[
            rf"{_MONTH}\.? \d{{1,4}}\b",
            rf"\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}\b",
            rf"(?:in|last|next|this|since|by|until|every|early|late) "
            rf"(?:{_MONTH}|week|weekend|month|year|night|summer|winter|spring|fall|autumn)\b",
            rf"{_WEEKDAY}s?\b",
            r"(?:yesterday|today|tomorrow|tonight|birthday|anniversary|ago)\b",
            r"\d{1,2}(?::\d{2})? ?[ap]\.?m\b",
            r"(?:in|since|by|until|from|of) (?:19|20)\d{2}\b",
            r"(?<![./@-])(?:(?:19|20)\d{2}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[/.]\d{1,2}[/.](?:19|20)\d{2}"
            r"|\d{1,2}/\d{1,2}/\d{2})(?![\w/-])",
            r"вчера|сегодня|завтра|понедельник|пятниц|أمس|اليوم|غدا",
        ],
        others=[
            r"\d ?[年月日号號년월일]",
            r"昨天|今天|明天|昨日|今日|明日|先週|来週|上周|下周|星期[一二三四五六日天]|[月火水木金土日]曜日",
            r"어제|오늘|내일|지난주|다음 ?주",
        ],
        lower_case=True,
    ),
    make_sign(
        "quantity",
        0.2,
        words=[
            rf"(?<![.,/-])\d{{1,9}}(?:[.,]\d{{1,9}})? ?{_UNIT}",
            rf"{_NUMBER_WORD} (?:more )?{_UNIT}",
            r"\d{1,9} (?:руб|лет|год|раз|человек)",
        ],
        others=[
            r"[$€£¥₹] ?\d",
            r"[\d一二两三四五六七八九十百千万] ?(?:个|個|岁|歳|才|人|公里|公斤|円|元|块|塊|次|只|隻|本|杯)",
            r"\d ?(?:명|원|살|개|번|마리)",
        ],
        lower_case=True,
    ),
    make_sign(
        "fact",
        0.3,
        words=[
            r"my (?:[a-z-]{1,24} ){1,3}(?:is|was|are|were|has|have|lives?|works?|died|moved|got|started|turned)\b",
            r"(?:i|we)(?:'m|'re| am| are| was| were) (?:an? |the |from |based |born |married|divorced|single|retired"
            r"|vegan|vegetarian|working (?:at|for|on|as)|living |studying |moving |pregnant|\d{1,3}\b)",
            r"(?:i|we)(?:'ve| have| had)?(?: just| recently| also| finally)? (?:work(?:ed)? (?:at|for|as|in|with|on)"
            r"|lived? (?:in|at|with|near)|moved|grew up|stud(?:y|ied)|own(?:ed)?|bought|adopted|graduated|started"
            r"|joined|quit|have (?:an?|two|three|four|\d)|got (?:married|engaged|a job|promoted)|went (?:to|on)|speak"
            r"|run (?:a|the)|used to|signed up|volunteer(?:ed)?|play(?:ed)?|teach|taught|visited|met|won|lost|made"
            r"|took|learned|finished)\b",
            r"(?:he|she|they)(?:'s|'re| is| are| was| has| have)? (?:an? |the |works?\b|lives?\b|moved\b|studies\b"
            r"|married\b|called\b|named\b|from\b|allergic\b)",
            r"(?:me llamo|vivo en|je m'appelle|j'habite|ich heiße|ich wohne|ich arbeite|ich bin|меня зовут"
            r"|я живу|я работаю)\b",
        ],
        others=[r"我[叫是住在有]|[私僕俺]は|저는|나는|제 이름"],
        lower_case=True,
    ),
)
