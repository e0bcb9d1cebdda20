"""What a hook puts before the model: packs and recall as the daemon framed them, less what the host has already.

Loaded at every prompt: it may import nothing that takes time.
"""

from __future__ import annotations

from clew.faces.hosts.dialects import COMPACTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clew.faces.hosts.hook_wire import Daemon

MAX_QUERY_CHARS = 4_000
PROMPT_BUDGET_TOKENS = 800
PROMPT_SHARE = 0.6
"""Of the time that is left: however slow memory is, there is time to hand over the turn."""

PROJECT_BUDGET_TOKENS = 400
PROJECT_ITEMS = 6
STATE = ("fact", "preference", "decision", "task", "plan")
"""Kinds that say how things stand: all that is offered before anyone has asked anything."""

COMPACTION_BUDGET_TOKENS = 2_000
TAIL_ALONE_TOKENS = 64
"""The least budget there is: its answer holds the newest turns and has no room for anything else."""

LEAST_WORDS = 3
"""Of a prompt in ASCII without a number: shorter ones answer or direct, and ask for nothing that memory could know."""

_COMMAND_SIGNS = ("/", "!")
_HINTS_READ = 20


def of_project(daemon: Daemon, user_id: str, project: str) -> str:
    """How things stand with the project of this name, as far as memory has it by that name."""
    query = " ".join(project.replace("_", " ").replace("-", " ").split())
    if not query:
        return ""
    asked = {"query": query, "kinds": STATE, "limit": PROJECT_ITEMS, "budgetTokens": PROJECT_BUDGET_TOKENS}
    return str(daemon.ask("pack", {**asked, "userId": user_id}).get("bundleText", ""))


def for_prompt(daemon: Daemon, user_id: str, session_id: str, prompt: str) -> str:
    """What bears on a prompt and was not said in this session.

    The host has the session before it, until it compacts it: from then on its turns may be recalled like any other.
    """
    if not _says_something(prompt):
        return ""
    until = daemon.part_of_time(PROMPT_SHARE)
    asked = {"query": prompt[:MAX_QUERY_CHARS], "userId": user_id, "budgetTokens": PROMPT_BUDGET_TOKENS}
    if _is_compacted(daemon, session_id, until):
        return str(daemon.ask("pack", {**asked, "sessionId": session_id}, until).get("bundleText", ""))
    return str(daemon.ask("pack", {**asked, "excludeSession": session_id}, until).get("bundleText", ""))


def after_compaction(daemon: Daemon, user_id: str, session_id: str) -> str:
    """What the user laid down, and what was said, that bears on the newest question of the session.

    A question that a host did not put there, if the newest turns hold one.
    """
    from clew.text.speakers import other_writer

    tail = daemon.ask("assemble", {"sessionId": session_id, "budgetTokens": TAIL_ALONE_TOKENS}).get("messages", [])
    asked_last = [turn for turn in reversed(tail) if turn["role"] == "user"]
    newest = next((turn for turn in asked_last if other_writer(turn["text"]) is None), *asked_last[:1] or [None])
    if newest is None:
        return ""
    question = {"role": "user", "text": newest["text"][:MAX_QUERY_CHARS], "id": newest["id"]}
    asked = {"sessionId": session_id, "userId": user_id, "query": question["text"], "messages": [question]}
    context = daemon.ask("assemble", {**asked, "budgetTokens": COMPACTION_BUDGET_TOKENS})
    return "\n".join(filter(None, (context.get("guidanceText"), context.get("recalledText"))))


def _is_compacted(daemon: Daemon, session_id: str, until: float) -> bool:
    entries = daemon.ask("journal", {"sessionId": session_id, "limit": _HINTS_READ}, until).get("entries", [])
    return any(entry["hook"] == COMPACTED for entry in entries)


def _says_something(prompt: str) -> bool:
    """Whether there is anything to look for. "Yes", "go on" or a command of the host's is near to everything short."""
    said = prompt.strip()
    if said.startswith(_COMMAND_SIGNS):
        return False
    return len(said.split()) >= LEAST_WORDS or not said.isascii() or any(char.isdigit() for char in said)
