"""Is a text written to steer the agent that reads it?

This is a marker and not the line of defence: authority comes from provenance, so a text that goes unnoticed gains
nothing by its wording. Clew keeps a noticed text out of recall until someone has looked at it, so a false alarm costs a
good record. The rules look for turns and frames that a text forges, for text that nobody can see, and for the few
wordings that real attempts share; `bench.injection` measures them.

They read a text as a model would: without characters that show nothing, in one form of each letter, with Latin letters
in place of the look-alikes. They run on RE2, in time linear in the length of the text.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import re2

from clew.text.letters import one_form


@dataclass(frozen=True, slots=True)
class Suspicion:
    """Why Clew takes a text for an attempt to steer its reader. Holds nothing of the text."""

    reason: str
    """One sentence about the first sign."""
    signals: tuple[str, ...]
    """The names of all signs, each once; forged turns first, the wordings last."""


def suspect(text: str) -> Suspicion | None:
    """The signs of an injection, or None where there is none."""
    characters = frozenset() if text.isascii() else frozenset(text)
    plain = _normalise(text, characters)
    found = {
        *_find_hidden(text, characters),
        *_find_rules(plain),
        *_find_disguised(plain),
        *_find_encoded(text, plain),
    }
    signals = tuple(name for name in _DOES if name in found)
    return Suspicion(f"The text {_DOES[signals[0]]}.", signals) if signals else None


_DOES = {
    "hidden_text": "carries text in characters that show nothing",
    "split_words": "parts the letters of its words by characters that show nothing",
    "forged_turn": "pretends that its quotation ends and a new turn begins",
    "override": "tells its reader to drop earlier instructions",
    "addressed": "speaks to the agent that reads it",
    "tool_order": "orders its reader to call a tool",
    "prompt_leak": "asks its reader for its own instructions",
    "encoded_text": "holds orders in encoded form",
}
"""What a text with each sign does, to follow `The text`. The first is the strongest."""


# --- forged turns and wordings -------------------------------------------------------------------------------

_EARLIER = (
    r"(?:previous(?:ly)?|prior|above|earlier|preceding|foregoing|existing|original|initial|former|past|current"
    r"|system|developer|safety|ethical|content|your|all|any|every)"
)
_ORDERS = (
    r"(?:\w{0,2}i\w{0,2}nstru[ck]tions?|prompts?|rules?|guidelines?|guard\W?rails?|directives?|constraints?|commands?"
    r"|programming|training|restrictions?|orders|polic(?:y|ies)|safeguards?|system message|filters)\b"
)
_DROP = r"\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|overrid(?:e|ing)|bypass(?:ing)?|discard)"
_DROP_CN = "(?:忽略|无视|無視|忽視|忘记|忘掉|忘記|抛弃|不要理会|不用管|绕过)"
_PROMPT_CN = "(?:系统提示|系統提示|提示词|系统指令|隐藏指令|初始指令|内部指令|内部规则|指令|prompt)"
_SHOW_CN = (
    "(?:输出|重复|打印|列出|告诉|翻译|显示|泄露|公开|说出|复述|展示|解释|描述|编码|透露|给出|提供|粘贴|贴出|背诵)"
)

_RULES: dict[str, tuple[str, ...]] = {
    "forged_turn": (
        r"(?:<\|im_start\|>|<start_of_turn>|<\|start_header_id\|>)\s{0,4}(?:system|user|assistant|developer|model)\b",
        r"(?:\[inst\]|<<sys>>|<\|system\|>)\s{0,4}(?:<<sys>>|you\b|ignore|do\b)",
        r"</(?:system|user|assistant|human|tool_|function_|untrusted|document|data|context|input|instruction"
        r"|search_result|recalled_history|opened_history|earlier_guidance|observation_log|external|quote|content"
        r"|result|information)\w{0,16}>\s{0,8}(?:</\w{1,20}>\s{0,8}){0,3}"
        r"(?:<(?:system|user|assistant|human|developer|instructions?|admin)(?:\s|>|_message)"
        r"|#{0,4}\s?(?:system|human|user|assistant|developer|new task|new instructions?|instructions?)\s?:)",
        r"##[\[(]system[_\s]?message[)\]]",
        r"\bend of (?:the )?(?:document|context|user input|tool (?:output|result)|data|input|untrusted content|page"
        r"|email|file)\s{0,2}(?:-{3,10}|={3,10}|\])\s{1,6}[\w<#\[]",
    ),
    "override": (
        rf"{_DROP} ~3 {_EARLIER} ~3 {_ORDERS}",
        rf"{_DROP} ~2 (?:the|everything) (?:above|foregoing|preceding)(?:\s?[.!;]| (?:and|then|instead)\b)",
        rf"{_DROP_CN}[^。，,\n]{{0,8}}(?:上文|前文|上述|以上|上面|之前|先前|此前|前面|原有|原来|系统|系統|安全|一切|你)"
        r"(?:内容|[^。\n]{0,9}(?:指令|指示|提示|规则|規則|设定|要求|限制|命令|约束|任务|策略|说的|告诉))",
        rf"{_DROP_CN}(?:所有|全部|一切)?的?(?:上文|前文)",
        r"\b(?:ignor|olvid|esque[cç]|oubli|dimentica)[^.\n]{0,40}(?:instruc|istruzioni|consignes|reglas|regras)"
        r"[^.\n]{0,8}(?:anteriores|previas|pr[eé]c[eé]dent)",
        r"\b(?:ignorier|vergiss|vergessen|missachte)[^.\n]{0,40}(?:anweisung|instruktion|regeln|vorgaben)",
        "(?:игнорир|забуд)[^.\n]{0,40}(?:инструкци|указани|правил)",
        "(?:以前|これまで|上記|今まで|前の|すべての)[^。\n]{0,10}(?:指示|命令|ルール)[^。\n]{0,8}(?:無視|忘れ)",
        "(?:이전|기존|모든|지금까지)[^.\n]{0,10}(?:지시|명령|지침|규칙)[^.\n]{0,8}(?:무시|잊)",
        "تجاهل[^.\n]{0,24}(?:التعليمات|الأوامر)",
    ),
    "addressed": (r"\bmessage from me, [^,\n]{1,60}, to you\b",),
    "tool_order": (
        r"\b(?:call|invoke|trigger|execute) (?:the )?[a-z]{2,20}_[a-z_]{2,30} (?:\w{1,12} ){0,2}"
        r"(?:on|with|to|at|using|for|against|url)\W{1,3}(?:\w{1,12} )?[\w-]{0,20}[/@:.][\w/]",
        r"(?:执行|运行|\brun|\bexecute)\W{0,3}(?:sudo )?(?:rm -\w{1,3} [/~](?:\s|\*|$)|rm /\w|mkfs|dd if="
        r"|chmod (?:-r )?(?:666|777) /|iptables -f|terraform destroy|systemctl stop (?:audit|r?syslog|firewall)"
        r"|useradd|echo [^\n]{1,60}authorized_keys)",
    ),
    "prompt_leak": (
        r"\b(?:reveal|print|show|repeat|output|display|disclose|expose|leak|dump|recite|share|tell|give|list|write"
        r"|translate|spell|encode) ~6 (?:your (?:\w{1,16} ){0,2}(?:system|hidden|initial|original|secret|internal"
        r"|developer) (?:\w{1,16} )?(?:prompts?|instructions?|messages?|rules|guidelines)"
        r"|(?:your|the) (?:\w{1,16} )?(?:prompt|instructions|message) (?:verbatim|word for word|above))\b",
        rf"{_SHOW_CN}[^。\n]{{0,12}}[你您](?:的|收到的)[^。\n]{{0,12}}{_PROMPT_CN}",
        rf"[把将用][^。\n]{{0,16}}[你您]的[^。\n]{{0,8}}{_PROMPT_CN}[^。\n]{{0,16}}{_SHOW_CN}",
    ),
}
"""Wordings in lower case. A blank is whatever parts two words, and ` ~3 ` also allows three more words between."""


def _compile(wording: str) -> Any:
    """To RE2, only ASCII makes words unless told otherwise. It must not write to stderr."""
    options = re2.Options()
    options.log_errors = False
    more_words = re.sub(r" ~(\d) ", r" (?:[\\pL\\pM\\pN_]{1,24} ){0,\1}", wording)
    return re2.compile(more_words.replace(" ", r"\W{1,8}").encode(), options)


_ALL = tuple((name, _compile(wording)) for name, wordings in _RULES.items() for wording in wordings)
"""An expression for each wording: one for all of them outgrows the memory of RE2 on a hostile text."""
_OVERRIDE = tuple((name, rule) for name, rule in _ALL if name == "override")
_NEGATED = re.compile(r"(?:\bnot|\bnever|n't|不要|不会|请勿) ?$".encode())
_NEGATION_BYTES = 12


def _find_rules(plain: str, rules: Iterable[tuple[str, Any]] = _ALL) -> Iterator[str]:
    """The rules that a text breaks; one that warns of something does not say it."""
    data = plain.encode("utf-8", "replace")
    for name, rule in rules:
        found = rule.search(data)
        while found is not None:
            if not _NEGATED.search(data, max(found.start() - _NEGATION_BYTES, 0), found.start()):
                yield name
                break
            found = rule.search(data, found.start() + 1)


# --- what a reader takes it for ------------------------------------------------------------------------------

_UNSEEN_RANGES = (
    (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0), (0xE0000, 0xE01EF),
)  # fmt: skip
"""Characters that show nothing or only change how others show."""
_UNSEEN = frozenset(chr(code) for first, last in _UNSEEN_RANGES for code in range(first, last + 1))
_UNSEEN_CHARACTER = re.compile("[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in _UNSEEN_RANGES) + "]")
_LONGEST_LIGATURE = "\ufdfa"
"""Unfolds into eighteen letters; no other character into more than eight."""
_ENTITY = re.compile(r"&(?:#(?:x([0-9a-f]{1,6})|([0-9]{1,7}))|(lt|gt|amp|quot|nbsp|apos));", re.IGNORECASE)
_ENTITIES = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "nbsp": " ", "apos": "'"}
_CYRILLIC_OR_GREEK = frozenset(map(chr, range(0x370, 0x530)))
_LOOK_ALIKES = str.maketrans("аеорсухіјѕԁһӏкмтвнԛԝαορνικτυ", "aeopcyxijsdhlkmtbhqwaopviktu")
_MIXED = re.compile(r"[a-z][\u0370-\u03ff\u0400-\u052f]|[\u0370-\u03ff\u0400-\u052f][a-z]")
_DIGITS_FOR_LETTERS = bytes.maketrans(b"0134578@$", b"oieastbas")
_SPACED_LETTERS = re.compile(r"[\s.*_-][a-z](?:[\s.*_-]{1,3}[a-z](?![a-z])){11,400}")
_SPACED_OVERRIDE = re.compile(
    r"(?:ignore|disregard|forget)(?:all|any|the|your|my)*(?:previous|prior|above|earlier|system)"
)


def _normalise(text: str, characters: frozenset[str]) -> str:
    """The text in lower case, in the letters that a reader takes it for. `characters` are those of it, if not ASCII."""
    if "&" in text:
        text = _ENTITY.sub(_character, text)
    if not characters:
        return text.lower()
    if characters & _UNSEEN:
        text = _UNSEEN_CHARACTER.sub("", text)
    text = text.replace(_LONGEST_LIGATURE, " ")
    folded = one_form(text).lower().replace("’", "'")
    return folded.translate(_LOOK_ALIKES) if characters & _CYRILLIC_OR_GREEK and _MIXED.search(folded) else folded


def _character(entity: re.Match[str]) -> str:
    if entity[3]:
        return _ENTITIES[entity[3].lower()]
    code = int(entity[1], 16) if entity[1] else int(entity[2])
    return chr(code) if code <= 0x10FFFF else ""


def _find_disguised(plain: str) -> Iterator[str]:
    """The oldest trick, with digits for letters or blanks between them."""
    undigited = plain.encode("latin-1", "replace").translate(_DIGITS_FOR_LETTERS).decode("latin-1")
    if any(
        undigited.count(verb) > plain.count(verb) for verb in ("ignore", "disregard", "forget", "overrid", "bypass")
    ):
        yield from _find_rules(undigited, _OVERRIDE)
    for run in _SPACED_LETTERS.finditer(f" {plain}"):
        if _SPACED_OVERRIDE.search(re.sub(r"[\W_]+", "", run[0])):
            yield "override"


# --- hidden and encoded text ---------------------------------------------------------------------------------

_TAG_LETTERS = re.compile(
    "[\U000e0020-\U000e007f](?<![\U0001f3f4\U000e0020-\U000e007f].)[\U000e0020-\U000e007f]{3}"
    "|[\U000e0020-\U000e007f][\U000e0020-\U000e007f]{11}",
    re.DOTALL,
)
"""Letters that only machines see. A few of them after a black flag are the flag of a region."""
_VARIATION_RUN = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef][\ufe00-\ufe0f\U000e0100-\U000e01ef]{3}")
_ZERO_WIDTH_RUN = re.compile("[\u200b-\u200f\u2060-\u2064\ufeff][\u200b-\u200f\u2060-\u2064\ufeff]{15,1023}")
_ZERO_WIDTH_SPLIT = re.compile("[\u200b-\u200d\u2060\ufeff][A-Za-z](?:[\u200b-\u200d\u2060\ufeff]{1,3}[A-Za-z]){3}")
_BASE64_RUN = re.compile(r"(?<![\w+/])[A-Za-z0-9+/]{24,4096}={0,2}")
_DECODING_WORDS = ("decod", "base64", "base 64", "解码")
_MOST_RUNS = 16


def _find_hidden(text: str, characters: frozenset[str]) -> Iterator[str]:
    if not characters & _UNSEEN:
        return
    two_kinds = any(len(set(run[0])) > 1 for run in _ZERO_WIDTH_RUN.finditer(text))
    if two_kinds or _TAG_LETTERS.search(text) or _VARIATION_RUN.search(text):
        yield "hidden_text"
    if _ZERO_WIDTH_SPLIT.search(text):
        yield "split_words"


def _find_encoded(text: str, plain: str) -> Iterator[str]:
    """Orders in base64, in a text that speaks of decoding."""
    if any(word in plain for word in _DECODING_WORDS):
        for run in islice(_BASE64_RUN.finditer(text), _MOST_RUNS):
            for name in _find_rules(_decode(run[0]).lower()):
                yield from (name, "encoded_text")


def _decode(run: str) -> str:
    bare = run.rstrip("=")
    try:
        return base64.b64decode(bare[: len(bare) - (len(bare) % 4 == 1)] + "==").decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return ""
