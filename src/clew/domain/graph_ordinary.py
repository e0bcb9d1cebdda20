"""Words of ordinary English that a capital makes no name: they open sentences and labels, or are shouted.

Told by a list of verbs, qualities and abstract things in their ground form, and by endings that are those of
participles, adverbs and the like. A word that is also a name now and then is missed as one; where it is meant as one,
it mostly stands beside another word, in a link or in a tag.
"""

from __future__ import annotations

from clew.domain.graph import canonical
from clew.domain.graph_words import GENERIC

_LEAST_ENDED_CHARS = 5
_ENDINGS = ("ed", "ing", "ly", "able", "ible", "tion", "tions", "ness", "ment", "ments", "ful", "less", "ive", "ize")
_NAMES_WITH_SUCH_ENDINGS = frozenset(
    "airtable beijing bitly boeing clive constable dunstable grammarly italy nanjing olive sicily wyoming".split()
)


def is_ordinary(title: str) -> bool:
    """Whether every word of a title is an ordinary one, however it is written."""
    words = canonical(title).split()
    return bool(words) and all(_is_ordinary_word(word) for word in words)


def _is_ordinary_word(word: str) -> bool:
    if word in _NAMES_WITH_SUCH_ENDINGS:
        return False
    has_ending = len(word) >= _LEAST_ENDED_CHARS and word.isalpha() and word.endswith(_ENDINGS)
    return has_ending or any(form in GENERIC or form in _ORDINARY for form in _ground_forms(word))


def _ground_forms(word: str) -> tuple[str, ...]:
    """A word and what it may be a plural or a third person of."""
    if not word.endswith("s"):
        return (word,)
    return word, word[:-1], word.removesuffix("es"), f"{word.removesuffix('ies')}y"


_ORDINARY = frozenset(
    """
    ability able above abort absent accept access account ack across act active actual add address adjust adopt advance
    advice after against age agree ahead aim alarm alert align all allow almost alone along already also alter always
    amend among amount analyse analysis analyze answer anybody anyone anything anyway anywhere apart appear append apply
    approach approve are area argue argument around arrange arrive article aside aspect assert assess assign assist
    assume assure attach attack attempt attend audit author auto automatic avoid await aware away awful bad badly
    balance ban bare base basic basis batch beat became become been began begin begun behave behind being believe bell
    belong below benefit beside besides bet between beware beyond big bind bit bite blank block body bold book boost
    born borrow bother bottom bound box brand brave break breath brief bright bring broad broke broken brought browse
    budget buffer build built bulk bump bunch burn burst busy buy bye bypass byte cache calculate came cancel cannot
    capture card care careful carry case cast catch category cause cell central certain chain challenge chance change
    char character charge chart chat cheap check cheer child choice choose chose chosen chunk circle claim class classic
    clean clear clever click clip clone close cloud clue code cold collapse collect column combine come command commit
    common compare compile complain complete complex compute concern confirm conflict confuse connect consider consist
    constant contain content continue contract contrast control convert cool copy core corner correct cost could
    count couple course cover crap crash crazy create critical cross cry cure custom cut cycle daily damn danger
    dark dash day dead deal dear debug decent decide deep defer define degree delay delete deliver demand deny depend
    deploy depth derive describe desire destroy detail detect determine develop diff differ different difficult dig
    direct dirty disable discard discover discuss display distinct divide double doubt down download drag drain draw
    drawn dream drive driven drop dry due dump during duty dynamic eager ear early earn ease easy eat echo edge edit
    effect effort eight either element else embed emit empty enable end enforce engage enjoy enough ensure enter entire
    entry enum eof equal eq erase escape especially essential estimate etc evaluate even event ever everybody everyone
    everything everywhere evidence exact examine exceed except exchange exclude excuse execute exist exit expand expect
    expert explain explicit explore export expose extend extra extract extreme eye face fact factor fail failure fair
    fall fallen false familiar far fast fatal fault favor favour fear feed feel fell felt fetch field fifth fight
    figure fill filter find fine finish fire fit five fixture flag flat flip float floor flow flush focus fold folder
    folk food fool force forever forget forgot forgotten fork form formal format forth forward foul found four fourth
    frame free freeze fresh front fuck full fully fun further game gap gather gave generate gentle gets getter
    give given glad global goes gone gonna got gotta grab grade grand grant graph gray grey grew group grow grown guard
    guess guest had half halt hand handle hang happen happy hard hardly harm hate haven head heading health hear heard
    heart heat heavy heck hell held hence hesitate hidden hide high highlight hit hold hole home honest hook hope
    horrible host hot hour house huge human hundred hurry hurt icon ideal identify idle ignore ill image imagine
    immediate impact implement imply import impose impossible improve incident include incomplete increase indeed index
    indicate individual infer inform inherit initial inject inner insert inside insist inspect instance instant intend
    interest internal into invalid invite involve isolate item iterate itself job join joke judge jump kept kick kill
    kind knew know known label lack land language large late latest latter launch layer layout lazy lead leader leak
    lean leap learn learnt least leave led legacy legal length less lesson level lie life lift light likely limit linear
    literal little live load local locate lock logic long loop loose lose loss lost lot loud love low lower luck lucky
    made magic main maintain major manage manual map mark mask mass master match material matter max maximum mean
    meaning meant measure meet member memory mental mention mere merge mess met metric mid middle might mild min mind
    mine minimal minimum minor minus minute miss mistake mix mock mode model modern modify module moment month mood
    moreover morning mount mouse move much multiple must mute myself naive narrow native natural near nearly neat
    necessary neither nested never nevertheless news nice night nine nobody node noise normal normally nothing notice
    notify nowhere null obey object observe obtain obvious occur odd off offer offline often old omit once ongoing
    online onto oops operate opinion oppose optimal optional orange order ordinary organise organize origin original
    otherwise ought ours outcome outer outline outside over overall override own pace pack page paid pain paint
    pair panel panic paper paragraph parallel parent parse partial party pass past paste patch pattern
    pause pay peace peer pending per perform period permit persist person phase phone phrase physical pick
    picture piece pin ping pipe pity place plain
    platform play plenty plus point policy poll pool poor pop popular port portion pose position possess possible
    potential power practice pray predict prefer prefix prepare present preserve press pretend pretty prevent preview
    price pride primary prime print prior priority private proceed process produce product profile profit program
    prompt proof proper property propose protect prove provide public publish pull pure push quality query queue quick
    quiet quit quite quote race raise ran random range rank rapid rare rarely rate rather raw reach react ready real
    realise realize rearrange reason rebuild recall receive recent reckon recommend record recover recreate red reduce
    refactor refer reference refine reflect refresh refuse regard region regular reject relate relax relevant reload
    rely remain remark remember remind remote remove rename render repair repeat replace reply report represent
    reproduce require rerun rescue research reserve reset resolve resource respect respond response rest restart restore
    restrict retain retry return reveal revert revise rewrite rich rid ride ring rise risk road role roll room root
    rough round route routine row rule rush sad safe said sake same sample sanity sat save saw scale scan scary scene
    schedule schema scratch screen script scroll seal search secret secure seek seem seen segment select self sell send
    sense sensible sent sentence separate sequence serious serve settle seven several severe shall shallow shape share
    sharp shell shift ship shit shock short shot shout shown shut sick side sign signal silent silly similar simple
    simplify simply single sit site situation six size skip sleep slice slide slight slot slow small smart smooth sold
    solid solve somebody somehow someone sometimes somewhere soon sorry sort sound space spare spawn speak special
    specific specify speed spell spend spent split spoke spoken spot spread square stable stack staff stage stand
    standard stash state static stay steady steal stick stolen stood stop storage store story straight strange strategy
    stream street stress stretch strict strike string strip strong structure struggle stuck study stupid style sub
    subject submit subset succeed success such sudden suffer suggest suit sum super supply support suppose surface
    surprise survey suspect suspend swap sweet switch sync syntax tab tag tail take taken talk target taste taught teach
    tell template ten tend term terrible text than theirs themselves theory therefore thick thin third thorough
    thought thousand thread threat three through throughout throw thrown thus tick tidy tie tight till tiny tired
    together told tone too took top total touch tough toward trace track trade traffic train transfer transform
    translate travel treat tree trial trick trigger trim trip trouble true truly truncate trust truth try tune twice
    typical ugly
    ultimate unable uncertain under understand understood undo unfortunately unique unit unknown unless unlike unlock
    unsafe until unused upload upon upper upset urgent useful useless usual valid validate valuable value various vary
    vast verbose verify versus via view virtual visible visit visual vital voice void vote wake walk wall wanna want
    warm warn was wash waste watch water way weak wealth wear weekly weight weird welcome went were whatever whenever
    wherever whether whoever whole whom whose wide wild win window wipe wire wise wish wonder word wore world worn
    worry worse worst worth wrap write written wrong wrote yell yellow yet yourself zero zone
    """.split()
)
