"""The words the deontic lexer knows: cues, what may follow them, and who is spoken to.

English is covered with some care. For other languages there are only a few phrases, each of which
hardly ever means anything but a rule. All words are in lower case, with straight apostrophes.
"""

from __future__ import annotations

from enum import StrEnum


class Modality(StrEnum):
    OBLIGATION = "obligation"
    PROHIBITION = "prohibition"
    PERMISSION = "permission"


_MUST, _NOT, _MAY = Modality.OBLIGATION, Modality.PROHIBITION, Modality.PERMISSION

Phrases = dict[str, tuple[tuple[tuple[str, ...], Modality], ...]]
"""Phrases by their first word, the longest first."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _pairs(*listed: str) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(pair.split()) for line in listed for pair in line.split(","))


def _phrases(*groups: tuple[Modality, str]) -> Phrases:
    """From groups of phrases that are parted by commas."""
    found: dict[str, list[tuple[tuple[str, ...], Modality]]] = {}
    for modality, listed in groups:
        for phrase in listed.split(","):
            words = tuple(phrase.split())
            found.setdefault(words[0], []).append((words, modality))
    return {first: tuple(sorted(held, key=lambda item: -len(item[0]))) for first, held in found.items()}


# --- cues ---------------------------------------------------------------------------------------------

START_CUES = _phrases(
    (_MUST, "always, make sure, make sure to, make sure that, be sure to, make certain, remember to, take care to"),
    (_MUST, "don't forget to, do not forget to, never forget to, please always, see to it that"),
    (_MUST, "it is required that, it is required to, it is mandatory to, it is essential to, it is essential that"),
    (_MUST, "it is important to, it is important that, it's important that you"),
    (_NOT, "never, never ever, do not, don't, dont, do not ever, don't ever, avoid, refrain from, must not, mustn't"),
    (_NOT, "under no circumstances, at no point, cannot, may not, should not, no longer, stop, take care not to"),
    (_NOT, "make sure not to, be careful not to, try not to, be sure not to, do never, please never"),
    (_NOT, "it is forbidden to, it is prohibited to, it is not allowed to, it is not permitted to"),
    (_MAY, "feel free to, no need to, it is fine to, it is ok to, it is okay to"),
    (_MAY, "it is allowed to, it is permitted to"),
)
"""Cues that speak to the reader when they open a clause."""

TALKATIVE_CUES = _words(
    """never always do don't dont cannot may should must no not mustn't please immer nie niemals toujours jamais
    siempre nunca jamás"""
)
"""Cues that are as common in talk, where the next word gives it away."""

MODAL_CUES = _phrases(
    (_MUST, "must, must always, shall, shall always, should, should always, ought to, have to, has to, need to"),
    (_MUST, "needs to, are required to, is required to, are expected to, is expected to, are obliged to"),
    (_MUST, "are to, is to, had better, must also, should also, must only, should only, shall only, may only"),
    (_NOT, "must not, mustn't, must never, shall not, shan't, shall never, should not, shouldn't, should never"),
    (_NOT, "cannot, can't, can not, can never, may not, may never, ought not to, are not to, is not to, aren't to"),
    (_NOT, "are not allowed to, is not allowed to, aren't allowed to, isn't allowed to, are never to, is never to"),
    (_NOT, "are not permitted to, is not permitted to, are forbidden to, is forbidden to, are forbidden from"),
    (_NOT, "are prohibited from, is prohibited from, is forbidden from, are never allowed to, is never allowed to"),
    (_NOT, "had better not, will never, will not"),
    (_MAY, "may, may also, are allowed to, is allowed to, are permitted to, is permitted to, are free to, is free to"),
    (_MAY, "need not, needn't, do not have to, don't have to, do not need to, don't need to, does not have to"),
    (_MAY, "doesn't have to, doesn't need to, does not need to, are welcome to, are not required to"),
    (_MAY, "aren't required to, is not required to, are not obliged to"),
)
"""What follows a subject: the reader, or something the reader makes."""

READER_ONLY = _pairs("cannot, can't, can not, can never, will not, will never, is to, are to")
"""Modals that only describe unless the subject is the reader."""

WISH_CUES = _phrases(
    (_MUST, "i want you to, i need you to, i expect you to, i would like you to, i'd like you to, i insist that you"),
    (_MUST, "we want you to, we expect you to, we need you to, your job is to, your task is to, your role is to"),
    (_MUST, "i prefer, i'd prefer, i would prefer, we prefer, we'd prefer, i'd rather you, i would rather you"),
    (_NOT, "i don't want you to, i never want you to, i'd rather you didn't, i would rather you didn't"),
)
"""A wish of the speaker about what the reader does, anywhere in a sentence."""

BAN_CUES = _phrases(
    (_NOT, "is forbidden, are forbidden, is prohibited, are prohibited, is strictly forbidden, are strictly forbidden"),
    (
        _NOT,
        "is not allowed, are not allowed, is not permitted, are not permitted, is banned, are banned, is off-limits",
    ),
    (_NOT, "are off-limits, is never allowed, are never allowed, is not acceptable, are not acceptable"),
    (_MUST, "is mandatory, are mandatory, is non-negotiable, are non-negotiable"),
)
"""A verdict on something that is named before it."""

# --- words around the cues ----------------------------------------------------------------------

LEAD_INS = _words(
    """please also then first next instead just and but so or second third therefore however otherwise ok okay yes
    hey now note important warning critical remember again still afterwards"""
)
"""Words that may come before the verb of an order, as may adverbs in -ly."""

RESTARTS = _words("then just please otherwise instead")
"""After these an order may begin in the middle of a sentence."""

CONNECTORS = _words("and but or so yet nor")
LASTING = _phrases(
    (_MUST, "from now on, going forward, henceforth, from here on, starting now, starting today, as a rule")
)
"""Before an order these say that it is meant to last."""

OPENERS = _words(
    """if when whenever before after unless until once while where for in on at to during as with without by from
    under since because given throughout within across regarding per using based even every each all any whether
    outside inside except upon prior rather especially via"""
)
"""Words that open a phrase before the main clause; the order follows its comma."""

CONDITIONS = _words("if when whenever unless until once while where before after for in on at during outside except")
"""Openers that limit when an order holds: such orders do not contradict each other."""

LIMITS = _words("if when whenever unless until while before after except without outside during only otherwise")
"""The same, anywhere in the sentence."""

PLACES = _words("for in on at during within inside outside with across throughout")
"""Openers that an order may follow without a comma."""

ADVERBS = _words(
    """also always only really then therefore definitely generally typically still thus first never probably usually
    normally ideally absolutely explicitly strictly now just simply"""
)

UNTOLD_PLACES = _words("what how why whether where which who whom things everything anything something steps reasons")
"""Before `you`, these make a description of a rule and not a rule."""

READERS = _words(
    """agent agents assistant assistants contributor contributors developer developers claude codex copilot gemini
    cursor ai llm llms model models bot bots subagent subagents reviewer reviewers maintainer maintainers committer
    committers author authors implementer implementers engineer engineers coder coders"""
)
"""Who an instruction file speaks to when it does not say `you`."""

WORK_PRODUCTS = _words(
    """code codebase tests test commits commit pr prs function functions class classes module modules file files
    name names change changes response responses answer answers output outputs comment comments doc docs
    documentation message messages import imports type types variable variables method methods endpoint endpoints
    query queries error errors exception exceptions feature features docstring docstrings logic struct structs
    branch branches secret secrets credential credentials key keys line lines analysis review reviews reply replies
    summary summaries build builds migration migrations dependency dependencies component components package
    packages script scripts fix fixes implementation implementations signature signatures annotation annotations
    field fields constant constants log logs logging identifier identifiers plugin plugins handler handlers service
    services api apis schema schemas config configuration prompt prompts template templates example examples system
    mesh task tasks request requests fixture fixtures parameter parameters value values url urls path paths edit
    edits result results report reports command commands workflow workflows hook hooks skill skills tool tools call
    calls formatting style layer layers release releases version versions assertion assertions coverage operation
    operations instruction instructions interface interfaces integration integrations diff diffs library python"""
)
"""What the reader makes: a rule about it is a rule for the reader."""

OUR_CUSTOMS = _words("use commit merge push add allow accept write create mock import deploy ship tolerate")
"""`We never` before these states a rule of the house."""

UNIVERSALS = _words("every all each any no nothing everything only")

PRONOUNS = _words(
    """i we he she they it it's i'm we're they're he's she's i've i'd i'll we've we'll who which that this there
    these those someone people users everyone everybody nobody one somebody customers"""
)
"""Subjects that an order does not speak to."""

FINITE_VERBS = _words(
    "is are was were has had have does did isn't aren't wasn't weren't be been am will would can could"
)

REPORTS = _words(
    """said says told tells thinks thought claims claimed wrote writes explained explains argues argued insisted
    insists warned mentioned stated suggests suggested recommends recommended believes believed asked heard
    according announced complained joked replied answered reminded"""
)
"""Words that pass on what somebody else said."""

REPORTS_BEFORE_THAT = _words("notes noted reads read states reports says shows implies means")
"""The same, but only before `that` or a colon."""

FIRST_PERSONS = _words("i we i've we've i'd already")

# --- what may not follow ------------------------------------------------------------------------------

NO_ORDER_AFTER = _words(
    """before again mind once had has have been was were is are a an the of in at on thought knew got good nice fun
    great happy glad worry know think mention wonder heard seen felt met did so that this too better more quite
    really very much wanted my your his her our their i you he she we they it there easy possible boring wrong right
    true false mean understand and or but sorry me him them us bother care available present empty null current zero
    one two ready safe valid live needed required hesitate forget here ha hemos había ist war habe hat hatte wieder
    noch mehr ai est"""
)
"""After `never`, `always` or `do not`, these make it talk and not an order."""

DESCRIPTIVE_AFTER_YOU = _words(
    """see notice encounter find experience wonder remember think get hear recall already now imagine picture
    envision visualise visualize guess expect end want like feel know realise realize observe discover come joking
    kidding love enjoy really miss hate"""
)
"""After `you may` or `you should`, these describe what happens to the reader."""

SUPPOSED_AFTER_BE = _words(
    """so really very proud excited tired happy thrilled joking kidding busy exhausted wondering mistaken amazing
    fun tough hard exciting awesome great nice relieved nervous"""
)
"""`must be proud` supposes; `must be formatted` demands."""

IDIOMS = _pairs(
    "give up, be afraid, be scared, be shy, be sad, be hard, be too, get me, let anyone, let anything, let it",
    "let them, let us, keep up, keep going, keep it, keep on, keep you, keep me, keep in, keep pushing, take care",
    "take it, give it, stay safe, stay strong, stay positive, be yourself, check out, trust me, use case, use cases",
)
"""Two words that wish somebody well."""

WISHES_OF_NO_WEIGHT = _words("know meet be have feel come see join enjoy hear understand believe")
"""`I want you to know` asks for nothing to be done."""

DETERMINERS = _words(
    """a an the this that these those all any each every your its it them their our only no new both one two me us
    my up out down for with on at in from to as by into through over against before after when via without until
    it's what how which whether where what's multiple existing relevant appropriate proper explicit small short
    clear concise consistent strict type full good simple common descriptive meaningful"""
)

PLAIN_VERBS = _words(
    """abort accept achieve acknowledge act adapt add adhere adjust admit adopt align allow alter amend analyse
    analyze annotate anticipate append apply ask assess assign assume attach authenticate automate avoid await
    become begin boost bring bypass calculate carry categorize centralize choose cite clarify classify collect
    combine communicate compare compile compress configure confirm conform connect consider consolidate construct
    consult continue convert coordinate create cross-check customize debug declare decompose decouple dedupe defer
    define delete deliver demonstrate deprecate derive describe destructure detect determine diagnose disable
    disclose discuss distinguish divide double-check download elaborate eliminate embrace emit emphasize enable
    encapsulate encourage enforce engage ensure enter escalate establish evaluate evolve examine exclude execute
    expand expect explain explore expose extend extract favor favour fetch finalize find follow gather generate
    hard-code hardcode heed hide highlight honor honour identify ignore implement improve include increase indicate
    infer inform inherit initialise initialize inject inspect instruct integrate interpret introduce investigate
    invoke isolate justify keep leave listen locate maintain manage maximise maximize migrate minimise minimize
    modify navigate negotiate nest normalise normalize notify obey obtain omit operate optimise optimize organise
    organize overwrite parallelize parameterize perform persist populate prefer prepare preserve prevent prioritise
    prioritize proceed promote propagate propose protect prove provide publish put query re-check re-read re-run
    read rebuild recheck recommend reconcile recover redact redirect reduce refactor refer refine reflect refrain
    refuse regenerate register reject rely remain remember remind remove rename reorder repeat replace require
    reread rerun resist resolve respect respond restart restore restrict retain retreat retrieve retry reuse reveal
    revert revise sanitise sanitize save select send serialise serialize simplify skip specify standardise
    standardize stay stick strive subclass submit subscribe suggest summarise summarize synchronize tailor tell
    terminate translate treat truncate uninstall unpack use utilise utilize validate verify weigh wipe"""
)
"""Base forms that open an order. Words that point or talk (see, note, let, think) are not among them."""

ALSO_NOUNS = _words(
    """abstract access address aim answer approach archive assert attempt audit base batch be break browse build
    bump bundle cache call cancel capture catch challenge change check claim clean clear clone close commit complete
    compose compute contact control copy correct cover default delegate deploy design develop direct display do
    document draft draw drive drop echo edit embed employ estimate exercise exit export express fail fall feed fill
    filter finish fix flag flush focus fold force fork format forward freeze gate give grant grep group guard hand
    handle help hold import index inline install iterate join label launch lean learn limit link lint list load lock
    log look loop make map mark match measure mention merge mind mirror mock monitor mount move name note offer open
    order outline override own package pair parse pass paste patch pause pick pin place plan point poll prefix
    present print probe process produce profile prompt prune pull push quote raise reach rebase record reference
    refresh release reload render reply report request research reserve reset return review rewrite rotate round
    route run scan schedule scope search secure serve set share ship show sign signal sort speak split squash stage
    start state step stop store stream strip structure study supply support surface switch sync tag take target test
    thread throw tie time toggle touch trace track transform trigger trim trust try turn type update upgrade upload
    version view visit wait walk warn watch work wrap write yield"""
)
"""Verbs that are nouns, names or descriptions as often; the next word must show that an order is meant."""

VERBS = PLAIN_VERBS | ALSO_NOUNS

NO_OBJECTS = _words("of is are was were has have had and or does do will can may must should would")
"""After a verb's base form, these show that it was a noun."""

STANDING_VERBS = _words("prefer prioritize prioritise favor favour ensure adhere stick refrain")
"""Orders that are meant to last, even in talk."""

PLAIN_ORDERS = _words("avoid prefer use follow verify ensure include run")
"""Verbs that give an order even where a list follows."""

COMMAND_LABELS = _words("run build install start launch deploy test serve execute regenerate check lint format")
"""Before a colon, these name the command that follows."""

BARE_NO_EXCEPTIONS = _words(
    """problem problems prob probs doubts regrets details biggie kidding idea worries way one doubt thanks need
    longer issue issues data result results wonder matter sign luck clue point action changes evidence reason such
    answer response information"""
)
"""`No` before these answers or reports."""

# --- other languages ----------------------------------------------------------------------------------

FOREIGN_CUES = _phrases(
    (_MUST, "du musst, du sollst, du solltest, ihr müsst, immer, stelle sicher, stell sicher, achte darauf, verwende"),
    (_MUST, "benutze, nutze immer, antworte, bitte verwende, bitte antworte, bitte benutze"),
    (_NOT, "du darfst nicht, du darfst kein, du darfst keine, du sollst nicht, du solltest nicht, niemals, nie"),
    (_NOT, "auf keinen fall, vermeide, verwende nie, verwende niemals, verwende keine, verwende kein, benutze nie"),
    (_NOT, "benutze keine, benutze kein, schreibe nie, schreibe niemals"),
    (_MAY, "du darfst, du kannst gerne, du musst nicht"),
    (_MUST, "tu dois, vous devez, il faut, il est obligatoire, toujours, utilise, utilisez, assure-toi, assurez-vous"),
    (_MUST, "réponds, répondez, veillez à"),
    (_NOT, "tu ne dois pas, vous ne devez pas, tu ne dois jamais, vous ne devez jamais, ne jamais, ne pas, jamais"),
    (_NOT, "n'utilise pas, n'utilisez pas, n'utilise jamais, n'utilisez jamais, évite, évitez, il est interdit"),
    (_NOT, "il ne faut pas, il ne faut jamais, ne fais pas, ne fais jamais, ne faites pas, ne faites jamais"),
    (_NOT, "n'écris jamais, n'écrivez jamais"),
    (_MAY, "n'hésite pas à, n'hésitez pas à"),
    (_MUST, "debes, usted debe, tienes que, siempre, usa siempre, utiliza, asegúrate, asegúrese, responde siempre"),
    (_NOT, "no debes, usted no debe, nunca, jamás, no uses, no utilices, evita usar, está prohibido, queda prohibido"),
    (_NOT, "no hagas, no escribas"),
    (_MAY, "no tienes que, no hace falta"),
)
"""German, French and Spanish cues that open a clause."""

UNSPACED_CUES: dict[str, Modality] = {
    cue: modality
    for modality, cues in (
        (_MAY, "不需要 不必 无需 無需 てもよい ても構いません"),
        (_NOT, "严禁 嚴禁 禁止 不要 请勿 請勿 切勿 不得 不准 不许 不許 不应 ないでください しないで"),
        (_NOT, "てはいけない てはいけません てはならない てはなりません"),
        (_MUST, "必须 必須 务必 務必 一定要 始终 始終 必ず なければならない なければなりません"),
    )
    for cue in cues.split()
}
"""Chinese and Japanese cues, anywhere in a sentence."""

UNSPACED_START_CUES: dict[str, Modality] = {
    **dict.fromkeys("请保持 请使用 请遵循 请确保 确保 优先使用 统一使用".split(), _MUST),
    "避免": _NOT,
}
"""Chinese cues that are orders only at the start of a run of characters."""

UNSPACED_VETOES = frozenset("他她它我们們人说說否")
"""Right before a Chinese cue, these make it about somebody else, or a question."""

UNSPACED_DECOYS = ("不得不", "要不要", "不得了", "他说", "她说", "他們說")
"""Runs with one of these hold no rule, whatever else they hold."""
