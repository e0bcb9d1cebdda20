"""Conversations that other programs wrote down, read as turns: streamed, line by line, whatever a line holds.

A reader gives each turn an id from the file's own ids, so that reading a file again, or one that has grown, gives
the same turns. What no human typed has a source, which makes it untrusted; only a transcript's own program speaks as
the system.
"""

from clew.faces.transcripts.formats import Format, detect, read_turns
from clew.faces.transcripts.lines import BadLine
from clew.faces.transcripts.plain import Transcript, read_transcript
from clew.faces.transcripts.tally import Tally
from clew.faces.transcripts.turns import Turn

__all__ = ["BadLine", "Format", "Tally", "Transcript", "Turn", "detect", "read_transcript", "read_turns"]
