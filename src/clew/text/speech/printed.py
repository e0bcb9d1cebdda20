"""Lines that a program wrote: prompts, traces, diffs, logs, tables, code."""

from __future__ import annotations

import re

_OUTPUT = re.compile(
    r"^\s{0,8}(?:➜|❯|\$ |>>> |\.\.\. |#!/|@@ |diff --git|index [0-9a-f]{7}|--- a/|\+\+\+ b/)"
    r"|^\s{1,12}at .{1,200}[:(]|^Traceback \(most recent|^\s{0,8}File \".{1,200}\", line \d"
    r"|^\s{0,4}[+-] {0,3}\d{1,5}\b|^\s{0,4}\d{1,5}[ :|]{1,3}\S.{0,200}[;{}]\s{0,4}$"
    r"|^\W{0,4}\d{4}-\d\d-\d\d[T ]\d\d:\d\d|^\W{0,2}\d\d:\d\d:\d\d\b|^\W{0,2}(?:INFO|DEBUG|WARN(?:ING)?|ERROR|TRACE)\b"
    r"|^(?:\w{1,40}\.){0,6}[A-Z]\w{0,40}(?:Error|Exception)\b|^Error: |^npm (?:ERR|WARN)|^Debugger attached"
    r"|^\s{0,8}\|.{0,400}\|\s{0,4}$|^\s{0,8}[{}\[\]();]{1,4},?\s{0,4}$|[;{]\s{0,4}$"
)
_SCREEN = re.compile(r"[\u2500-\u259f\u2800-\u28ff]")
"""Characters that draw on a terminal: frames, blocks, spinners."""


def is_output(line: str) -> bool:
    """Whether a program wrote the line, by its shape."""
    return _OUTPUT.search(line) is not None or _SCREEN.search(line) is not None
