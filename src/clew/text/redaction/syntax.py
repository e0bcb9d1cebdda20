"""The pieces that expressions for a name and its value are made of."""

from __future__ import annotations

BLANK = r"[ \t\xa0\u2007\u202f\u3000]"
"""A blank inside a line, also the narrow ones that French sets before a colon."""
LINE_END = r"(?:\r?\n|(?:\\r)?\\n)"
"""The end of a line, also as JSON that was not read yet writes it."""
VALUE = (
    r"(?:[bBrRuU]?(?:\\?\"(?P<double>[^\"\n\\]{1,512}+)|\\?'(?P<single>[^'\n\\]{1,512}+)|`(?P<back>[^`\n]{1,512}+))"
    r"|[「『“„«]?(?P<bare>[^\s\xa0\u2007\u202f\u3000\"'`<>(){}\[\],;|&\\，。；：、！？（）「」『』【】“”„«»]{4,512}+))"
)
MARKS = r"[*~]{0,3}+"
"""What Markdown puts around a name or a value to make it stand out."""
CLOSERS = r"[\"'`\])\\*~]{0,6}+"
"""What may stand between a name and the mark behind it."""
TAIL = r"(?P<tail>[\w.\-\u00c0-\u024f\u0370-\u04ff]{0,40}+)"
"""The rest of the name, with the endings of the languages that have them."""
TAG = r"<(?:/?[a-zA-Z]|!--)[^<>\n]{0,80}+>"
"""A tag or a comment of HTML."""
