"""Tells the turns that say nothing by themselves: commands to the host, single words, bare acknowledgements."""

from __future__ import annotations

import re
from enum import StrEnum

from clew.text.speech import ATTACHED


class Idle(StrEnum):
    """Why a turn says nothing."""

    EMPTY = "nothing said"
    COMMAND = "a command"
    WORD = "a single word"
    ACKNOWLEDGEMENT = "an acknowledgement"


_LONGEST_CHARS = 400
_WORD = re.compile(r"\w")
_COMMAND = re.compile(r"[/!][A-Za-z][\w:.-]{0,40}(?:[ \t]{1,4}[^\s/]{1,40}){0,3}")
"""A slash command with at most three words behind it. A path has a second slash."""
_UNSPACED = r"\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
"""Scripts that put no blanks between words."""
_SINGLE = re.compile(
    rf"\W{{0,40}}(?:(?:\w\.){{1,6}}\w?|[^\W{_UNSPACED}]{{1,80}}(?:['’-]\w{{1,40}}){{0,2}}"
    rf"|[{_UNSPACED}]{{1,2}})\W{{0,40}}"
)
_PHRASES = (
    r"(?:ok(?:ay)?|k|yes|yeah|yep|yup|ye|no|nope|nah|sure|thanks?(?: you)?|thx|ty|great|nice|cool|perfect|awesome"
    r"|good|done"
    r"|right|fine|alright|hi|hello|hey|bye|goodbye|got it|understood|continue|go on|go ahead|carry on|keep going"
    r"|proceed"
    r"|please|do it|do that|do so|next|again|try again|retry|stop|wait|good (?:morning|night|job|work|point|idea|luck)"
    r"|well done|sounds (?:good|great|fun)|looks (?:good|great)|makes sense|lgtm|will do|on it|noted|ack|np|no problem"
    r"|no worries|my pleasure|you too|you're welcome|exactly|absolutely|definitely|totally|agreed|correct|indeed"
    r"|of course"
    r"|congrats|congratulations|wow|haha(?:ha)?|lol|omf?g|wtf|h{1,9}m{1,9}|ah{1,9}|oh{1,9}|uh{1,9}|so much|very much"
    r"|a (?:lot|bunch)|then|now|it"
    r"|that|this|all (?:good|right|set)|that's (?:it|all|right|fine|great|good|ok(?:ay)?)|this is (?:it|fine|great"
    r"|good)"
    r"|take care|have fun|see you(?: soon| later| around| then)?|later|can't wait|for (?:now|that|this|the help"
    r"|your help)"
    r"|i (?:see|agree|understand|know)|means a lot|appreciate it"
    r"|好的?|收到|谢谢|謝謝|了解|明白|知道了|嗯|行|可以|没问题|继续|はい|ありがとう(?:ございます)?|了解(?:です|しました)?"
    r"|네|감사합니다|알겠습니다|да|спасибо|хорошо|gracias|vale|danke|merci)"
)
_ACKNOWLEDGEMENT = re.compile(
    rf"\W{{0,4}}(?i:{_PHRASES})\b(?:\W{{1,4}}(?:(?i:{_PHRASES})\b|[A-Z][a-z]{{1,20}}\b(?=[.!,]"
    rf"|\s{{0,4}}$))){{0,8}}\W{{0,8}}"
)
"""Phrases in a row, and the names of those they are said to."""


def idle(text: str) -> Idle | None:
    """Why a turn says nothing; None where it may say something. A file that was handed over says nothing, too."""
    if len(text) > _LONGEST_CHARS and len(text.strip()) > 2 * _LONGEST_CHARS:
        return None
    said = ATTACHED.sub(" ", text).strip()
    if not _WORD.search(said):
        return Idle.EMPTY
    if len(said) > _LONGEST_CHARS:
        return None
    if _COMMAND.fullmatch(said):
        return Idle.COMMAND
    if _SINGLE.fullmatch(said):
        return Idle.WORD
    return Idle.ACKNOWLEDGEMENT if is_acknowledgement(said) else None


def is_acknowledgement(text: str) -> bool:
    """Whether a text only greets, thanks, agrees or tells the other to go on."""
    return _ACKNOWLEDGEMENT.fullmatch(text) is not None
