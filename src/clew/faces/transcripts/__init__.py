"""Reads conversations that other programs wrote down as turns, line by line.

A reader makes the id of each turn from the file's own ids, so that reading a file again, or one that has grown, gives
the same turns. Text that no human typed gets a source, which makes it untrusted. Only the program that wrote the
transcript speaks as the system.
"""

from clew.faces.transcripts.formats import Format, detect, read_turns
from clew.faces.transcripts.lines import BadLine
from clew.faces.transcripts.plain import Transcript, read_transcript
from clew.faces.transcripts.tally import Tally
from clew.faces.transcripts.turns import Turn

__all__ = ["BadLine", "Format", "Tally", "Transcript", "Turn", "detect", "read_transcript", "read_turns"]
