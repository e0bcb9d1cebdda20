"""The text that a hook puts before the model: packs and recall from the daemon, without what the host has already.

Every prompt loads this module, so it imports nothing that takes time.
"""

from __future__ import annotations

from clew.faces.hosts.dialects import COMPACTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clew.faces.hosts.hook_wire import Daemon

MAX_QUERY_CHARS = 4_000
PROMPT_BUDGET_TOKENS = 800
PROMPT_SHARE = 0.8
"""The share of the remaining time for recall. The rest is for the turn, however slow memory is."""

RULES_BUDGET_TOKENS = 8_000
"""The budget that the user's rules get their share of, the setting `guidance_share`, when a session begins."""

PROJECT_BUDGET_TOKENS = 400
PROJECT_ITEMS = 6
STATE = ("fact", "preference", "decision", "task", "plan")
"""Kinds that describe the present state: the only ones that Clew offers before anyone asks."""

COMPACTION_BUDGET_TOKENS = 2_000
TAIL_ALONE_TOKENS = 64
"""The smallest budget: its answer has room for the newest turns alone."""

LEAST_WORDS = 3
"""For a prompt in ASCII without a number. A shorter one answers or directs, and asks nothing that memory could know."""

_COMMAND_SIGNS = ("/", "!")
_HINTS_READ = 20


def recall_at_start(daemon: Daemon, user_id: str, session_id: str, project: str) -> str:
    """The user's rules, and the present state of the project."""
    asked = {"sessionId": session_id, "userId": user_id, "messages": [], "budgetTokens": RULES_BUDGET_TOKENS}
    rules = daemon.ask("assemble", asked).get("guidanceText", "")
    return "\n".join(filter(None, (rules, _recall_project(daemon, user_id, project))))


def _recall_project(daemon: Daemon, user_id: str, project: str) -> str:
    from clew.core.projects import name_of

    query = " ".join(name_of(project).replace("_", " ").replace("-", " ").split())
    if not query:
        return ""
    asked = {"query": query, "kinds": STATE, "limit": PROJECT_ITEMS, "budgetTokens": PROJECT_BUDGET_TOKENS}
    return str(daemon.ask("pack", {**asked, "userId": user_id, "project": project}).get("bundleText", ""))


def recall_for_prompt(daemon: Daemon, user_id: str, session_id: str, prompt: str, project: str) -> str:
    """What memory knows about a prompt, without the turns of this session, which the host shows to the model.

    After the host has compacted the session, Clew recalls its turns like any others.
    """
    if not _has_question(prompt):
        return ""
    until = daemon.part_of_time(PROMPT_SHARE)
    asked = {"query": prompt[:MAX_QUERY_CHARS], "userId": user_id, "budgetTokens": PROMPT_BUDGET_TOKENS}
    asked |= {"project": project} if project else {}
    if _is_compacted(daemon, session_id, until):
        return str(daemon.ask("pack", {**asked, "sessionId": session_id}, until).get("bundleText", ""))
    return str(daemon.ask("pack", {**asked, "excludeSession": session_id}, until).get("bundleText", ""))


def recall_after_compaction(daemon: Daemon, user_id: str, session_id: str, project: str) -> str:
    """The user's rules, and earlier words, that matter to the newest question of the session.

    Prefers a question that the user wrote to one that a host wrote.
    """
    from clew.text.speakers import other_writer

    tail = daemon.ask("assemble", {"sessionId": session_id, "budgetTokens": TAIL_ALONE_TOKENS}).get("messages", [])
    asked_last = [turn for turn in reversed(tail) if turn["role"] == "user"]
    newest = next((turn for turn in asked_last if other_writer(turn["text"]) is None), *asked_last[:1] or [None])
    if newest is None:
        return ""
    question = {"role": "user", "text": newest["text"][:MAX_QUERY_CHARS], "id": newest["id"]}
    asked = {"sessionId": session_id, "userId": user_id, "query": question["text"], "messages": [question]}
    asked |= {"project": project} if project else {}
    context = daemon.ask("assemble", {**asked, "budgetTokens": COMPACTION_BUDGET_TOKENS})
    return "\n".join(filter(None, (context.get("guidanceText"), context.get("recalledText"))))


def _is_compacted(daemon: Daemon, session_id: str, until: float) -> bool:
    entries = daemon.ask("journal", {"sessionId": session_id, "limit": _HINTS_READ}, until).get("entries", [])
    return any(entry["hook"] == COMPACTED for entry in entries)


def _has_question(prompt: str) -> bool:
    """Whether there is anything to look for. "Yes", "go on" or a command of the host resembles every short text."""
    said = prompt.strip()
    if said.startswith(_COMMAND_SIGNS):
        return False
    return len(said.split()) >= LEAST_WORDS or not said.isascii() or any(char.isdigit() for char in said)
