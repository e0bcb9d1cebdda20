"""The state of things, for a question that asks for no one thing: "where did we leave off?", "catch me up".

No text is near to such a question, and what shares its words is chance. So the pack shows what was last: the newest
requests of the user, the reports on them, the summaries of the latest sessions, and what was decided.
"""

from __future__ import annotations

import re

from clew.core.collections import Collection
from clew.core.ids import session_of
from clew.core.model import Kind, Record, Trust
from clew.core.projects import project_in, same_project
from clew.core.relevance import BY_NAME
from clew.features.pack.choice import Choice, Lane, kind_of
from clew.kernel.parts import Parts
from clew.kernel.search import origin, unsought
from clew.kernel.views import active_view
from clew.text.calls import calls
from clew.text.grading.salience import is_idle, is_narration, only_asks
from clew.text.speech import own_words

SESSIONS = 2
SUMMARIES = 3
REQUESTS = 5
REPORTS = 3
KEPT = 2
"""How many of the latest sessions, of their summaries, or of requests and reports, and of kept records a pack shows."""

_READ = 80
_READ_FOR_PROJECT = 800
"""How many of the newest records are looked at: those of one project may lie behind much other work."""

_LEAST_CHARS = 16
_OFFERED = (Trust.TRUSTED, Trust.UNKNOWN)
_LASTING = (Kind.DECISION, Kind.TASK, Kind.PREFERENCE, Kind.PLAN)

_WHEN = (
    r"(?: (?:last time|last session|yesterday|today|lately|recently|so far|before|again|these days|now|here|then"
    r"|please))*"
)
_VAGUE = re.compile(
    r"(?:(?:ok(?:ay)?|so|hey|hi|hello|please|alright|well|and)[,.! ]+){0,3}(?:"
    r"what (?:did|have|had|were|are|was) (?:we|you|i)(?: all| both)? (?:do|done|doing|working on|work on|worked on"
    r"|up to|at"
    rf"|been (?:doing|up to|working on|talking about)|talk about|in the middle of|discuss(?:ed)?){_WHEN}"
    r"|where (?:did|were|are|have) we(?: (?:leave|left|stop|stopped|end|ended)(?: (?:off|things|it|up))?)?"
    rf"(?: last time| at)?{_WHEN}"
    rf"|(?:can you |could you |quickly )?(?:catch|bring|fill|get) me (?:up|in)(?: to (?:speed|date))?{_WHEN}"
    r"|(?:what(?:'s| is) )?(?:the |our )?(?:current )?(?:state|status|progress)"
    rf"(?: (?:of|on|with) (?:things|the project|this|it|everything|our work))?{_WHEN}"
    rf"|what(?:'s| is) (?:left|next|new|open|still open|remaining|pending|going on|the plan|up next|missing)"
    rf"(?: (?:to do|for us|on my plate))?{_WHEN}"
    r"|(?:what|which|are there|do we have|any)(?: are the)? (?:important |open |recent |new )?(?:decisions?|tasks?"
    r"|to-?dos?|plans?|news|issues|rules)(?: (?:are there|do we have|coming up|left|i should (?:remember|know)"
    rf"|(?:we|i) (?:made|took|have)))?{_WHEN}"
    rf"|how far (?:did|have|are) we(?: (?:get|got|come|along))?{_WHEN}"
    r"|(?:let's |shall we |can we )?(?:continue|go on|carry on|resume|pick up)(?: (?:where|from where) we (?:left off"
    rf"|stopped|were))?{_WHEN}"
    r"|(?:give me |can i have |i need )?(?:a |the )?(?:quick |short |brief )?(?:summary|recap|overview|rundown)"
    r"(?: (?:of|on) (?:the |our )?(?:last|previous|latest|past)? ?(?:session|time|work|chat|conversation|things|day"
    rf"|week))?{_WHEN}"
    r"|(?:is )?(?:there )?anything (?:new|open|left|i should know|still (?:broken|open|failing|missing)"
    rf"|worth \w{{3,20}}(?: (?:about|in|from)(?: (?:it|there))?)?){_WHEN}"
    r"|was (?:haben wir|war)(?: zuletzt| letztes mal)?(?: gemacht)?|wo (?:waren|stehen) wir(?: stehen geblieben)?"
    r"|où en (?:étions|sommes)[- ]nous|dónde (?:lo )?(?:dejamos|quedamos)|qué hicimos(?: la última vez)?"
    r"|我们(?:上次)?(?:做了什么|进行到哪里?了?)|上次(?:做了什么|到哪里?了?)|前回(?:は)?(?:何をした|どこまで)"
    r"|지난번에? (?:뭐|무엇을?) 했"
    r")\W{0,4}",
    re.IGNORECASE,
)
_QUESTION_CHARS = 160


def asks_for_state(question: str) -> bool:
    """Whether a question asks where things are, and names nothing."""
    said = " ".join(question.replace("’", "'").split())
    return len(said) <= _QUESTION_CHARS and _VAGUE.fullmatch(said) is not None


def find_state(parts: Parts, user_id: str, present_session: str | None, project: str | None = None) -> list[Choice]:
    """The newest summaries and kept records of a user, newest first; those of a project, where it has any."""
    found = _summaries(parts, user_id, present_session, project)[:SUMMARIES]
    if not found:  # none may be shown: they also tell of what tools gave back
        requests = [turn for turn in _newest(parts, Collection.turns(user_id), project) if _asks_for_work(turn)]
        reports = [reply for reply in _newest(parts, Collection.replies(user_id), project) if _reports(reply)]
        found = [*requests[:REQUESTS], *reports[:REPORTS]]
    lasting = [one for one in _newest(parts, Collection.memories(user_id), project) if kind_of(one) in _LASTING]
    found += lasting[:KEPT]
    return [
        Choice(unsought(record), Lane.STATE, origin(record), 1.0 - place / (len(found) + 1), 1.0, BY_NAME)
        for place, record in enumerate(found)
    ]


def _summaries(parts: Parts, user_id: str, present_session: str | None, project: str | None) -> list[Record]:
    """Of the latest sessions; the newest first."""
    turns = _newest(parts, Collection.turns(user_id), project)
    names = dict.fromkeys(name for turn in turns if (name := session_of(origin(turn))))
    latest = [name for name in names if name != present_session][:SESSIONS]
    views = [one for name in latest for one in active_view(parts, name).summaries]
    trusted = [one for one in views if one.record.trust in _OFFERED]
    newest = sorted(trusted, key=lambda one: (-one.lineage.last_ts_ms, one.record.id))
    return [one.record for one in newest]


def _newest(parts: Parts, collection: Collection, project: str | None) -> list[Record]:
    """Of a project, where it has any; else of no project in particular."""
    limit = _READ if project is None else _READ_FOR_PROJECT
    found = [record for record in parts.store.newest(collection, None, limit) if record.trust in _OFFERED]
    if project is None:
        return found
    own = [record for record in found if same_project(project_in(record.metadata), project)]
    return own[:_READ] or [record for record in found if not project_in(record.metadata)][:_READ]


def _asks_for_work(turn: Record) -> bool:
    """Whether a user's turn says what is to be done or how it is to be."""
    words = own_words(turn.text)
    return len(words) >= _LEAST_CHARS and not is_idle(words) and not only_asks(words)


def _reports(reply: Record) -> bool:
    """Whether a reply ends a piece of work: it makes no more calls, and says what was done."""
    return not calls(reply.text) and len(reply.text) >= _LEAST_CHARS and not is_narration(reply.text)
