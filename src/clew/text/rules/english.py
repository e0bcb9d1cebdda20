"""English words of rules. Each list is a class of words that the grammar knows, or of things to speak about."""

from __future__ import annotations

from clew.text.rules.signs import language

ENGLISH = language(
    """
function words: a an the this that these those my your his her its our their some many much most several few both
    another such other i you he she it we they me him us them who whom what which whose there here i'm i've i'd i'll
    you're you've you'd you'll he's she's it's we're we've we'll we'd they're they've they'll that's there's what's
    who's let's someone somebody everyone everybody people nobody nothing none something anything everything one ones is
    are was were am be been being has have had do does did will would can could should may might must shall isn't aren't
    wasn't weren't hasn't haven't hadn't don't doesn't didn't won't wouldn't can't cannot couldn't shouldn't and or but
    so because if when while as than then though although to of in on at by for from with without about into over under
    after before between through during until since how why where not no never always just only very really too also yes
    yeah ok okay oh hey hi hello please well now today still even more less every each all any either neither else got
    get gets gonna going went back up out off down again ever whatever whenever wherever sometimes perhaps maybe anyway
    besides plus across towards once twice various unless yet already
idle: worry worries worrying mind know think forget hesitate care matter understand believe remember recall agree mean
    doubt doubts blame panic stress fear regret regrets feel want like love need see seem bother miss wonder laughing
    crying looking joking kidding problem problems issues idea clue thanks luck news way rush hurry pressure reason
    sense surprise chance time kids friends pets lots tons loads hugs regards cheers greetings congrats things times
    guys yours looks sounds makes means goes says keeps works seems feels helps plans questions excuses words results
    series lets
one thing: a an this that these those some two three four five ten half the it
joints: and but or so because please
links: and or
occasions: in for on at with during outside
plural endings: s
answers: no yes yeah nope nah yep sure ok
lead-ins: oh, ok, okay, so, and, but, or, also, btw, by the way, just, well, listen, hey, hi, hello, anyway, now, then,
    actually, plus, look, right, please, pls, only, again, still, first, second, finally, one thing, one more thing, um,
    ugh, thanks, sorry, got it, great, nice, cool, perfect, good, yes, generally, in general, usually, instead, because,
    remember/note, remember/note that, remember to, make/be sure, make sure that, be sure to, important, reminder, rule,
    policy, from now/here on, going forward, in future, next time, seriously, honestly, fyi, ps, lets, let's, we agreed
    that/to, as a rule, it's important that
requests: can/could/would/will you, can/could/would/will you please
opens ban: don't/dont/never *, do not *, don't/never ever *, do not ever *, stop/quit *ing, avoid *, avoid the, no *s,
    no * *s, no *ing, not *ing, no more *, refrain from, under no circumstances, skip/drop the, leave out, spare me,
    enough with, hands off, i don't want/need *s, i don't want to see, none of that/those, i hate it when
opens told: always/prefer *, you must/should *, you have/need to *, you are to *, you're to *, you must/should
    always/never, you may only, you must/should/may not, you mustn't/shouldn't, you are not to/allowed, you're not
    to/allowed, you don't need/have to, i/we want/need/expect you to, i'd/we'd like you to, i/we would like you to,
    i'd rather/prefer you, i would rather/prefer you, i'd prefer if you, i'd prefer/appreciate it if you, i would
    prefer/appreciate it if you, i prefer if/that you, i prefer/like it when you, i'd be grateful if you, i insist
    that you, i don't want you
opens wish: i/we want/need/expect/prefer, i'd like/rather/prefer, i would like/rather/prefer, i like my/your, i hate, i
    insist, it's important, it is important
opens ours: we *, we don't/never/always/only, we do not, we no longer, we agreed, our policy/style/rule, house
    style/rule, here we, at our *
opens order: use, keep, write, answer, reply, respond, speak, talk to, call, address, spell, format, cite, refer to,
    stick to/with, limit, round, wrap, quote, leave, include, mention, ask, check with, tell/give/show/warn/remind me,
    let me, label, name, number, prefer, follow, respect, treat, avoid, ensure, wait for, be, stay, put, explain,
    assume, list, sort, log, mark, store, start, end, begin, sign, act, come to
opens task: add, build, calculate, change, clean, close, compare, convert, create, cut, delete, describe, draft, draw,
    edit, export, extract, fetch, find, finish, fix, generate, get, help, implement, import, improve, install, look,
    make, merge, move, open, order, paste, plan, post, prepare, print, push, read, recommend, remove, rename, replace,
    restart, review, rewrite, run, save, search, send, set, show, stop, suggest, summarise, summarize, take, translate,
    try, turn, update, upload, verify
opens occasion: if/when/whenever/once someone/somebody/anyone/anybody/a/an/any/they/she/he, if/when/whenever you *,
    when/whenever we *, if/when/whenever i ask/say, if there, if/when in doubt, when/before/after *ing, every/each time
    you, before you, before/after any/every/each, unless i/you, whoever, in/for all/every/anything/everything/our
opens self: i, i'm, i've, i'll, i'd, we've, we're, we'll, we had/have/were/are, it, it's, that's, that, this, there,
    there's, he, she, they, he's, she's, they're, these, those, you're, you've, you always/never, what, how, some,
    people, one of
opens kind: every/each/any *, all *s, anything, everything, nobody, no one, nothing
opens heed: otherwise, or else
opens talk: yeah, nope, yep, exactly
holds must: must, have/has/need/needs/ought/supposed to, needs, should, shall, required, requires, mustn't, shouldn't,
    may only, a must/no
holds told: is/are banned, are out, off limits, off-limits, forbidden, prohibited, taboo, not/isn't/aren't allowed,
    mandatory, compulsory, obligatory, non-negotiable
holds always: always, never, at all times, every/each time, ever, any more, anymore, by default
holds any: every, each, all, any, anything, everything, whatever, whoever, anyone, nobody, no one, nothing, everywhere,
    anywhere, nowhere
holds only: only, at most/least, max, maximum, min, minimum, no longer/more/later/less/fewer than, not more than,
    within, tops, up to, or less/fewer/more, exclusively, strictly, nothing but/else, single
holds first: first, before, beforehand, in advance, ahead, ask me, approval, approve, permission
holds lasting: from now/here on, from today on, from this point on, going forward, henceforth, as of today/now, starting
    today/now, in future, for future, until i say/tell, until further notice, next time, the next ones, without
    exception, no exceptions, as a rule
holds please: please, pls, plz, kindly
holds heed: in mind, into account, plan around, so you know, note/remember that, i mean it, i'm serious, i insist,
    the/a/new/house rule, policy, period, full stop, no matter what, no exceptions, allergic, allergy
holds goes: go/goes to/into/in/through/with/on/out/up/under/first/at, belong, belongs, live/lives in/next, gets
    a/an/the, get/gets *ed, come/comes with/first, start/starts/end/ends with, stays, stay in/out/as, wait for,
    count/counts as, are/is/be *ed, are/is/isn't/aren't done/kept/written/sent/given/made/put/paid, carry, carries,
    fit/fits on
holds form: answer, answers, answering, reply, replies, response, responses, spelling, sentence, sentences, paragraphs,
    words, emoji, emojis, table, tables, bullet, bullets, heading, headings, markdown, prose, tone, jargon, slang,
    units, metric, dates, numbers, figures, measurements, prices, amounts, currency, brief, concise, verbose, plain,
    english, german, french, spanish, british, american, language, apologies, apologising, apologizing, flattery,
    lecture, guess, guessing, question, questions, exclamation, semicolons, dashes, summary, summaries, explanations,
    comments, call me, talk to me, style, formal, informal, polite, essay, format, abbreviations, citations, sources
holds ours: in this house/project/repo/codebase/team, in our *
holds occasion: whenever you/we/they, mondays, tuesdays, wednesdays, thursdays, fridays, saturdays, sundays, weekends,
    weekdays, mornings, evenings, on a monday/tuesday/wednesday/thursday/friday/saturday/sunday, at night, every
    day/week/month/year, before/after one/two/three/four/five/six/seven/eight/nine/ten/eleven/twelve/noon/midnight
holds past: was, were, had, did, didn't, wasn't, weren't, been, went, got, came, saw, took, felt, thought, knew, found,
    gave, met, heard, bought, chose, made, sent, built, began, ran, paid, brought, lost, won, broke, sold, used to, ago,
    yesterday, recently, last week/month/year/night/weekend, i/we/he/she/they/it *ed
holds report: said, says, told, tells, thinks, claims, claimed, wrote, writes, explained, argues, insists, warned,
    mentioned, suggests, suggested, recommends, recommended, believes, asked, demands, according, apparently,
    supposedly, must/should/could/would have, must've, should've, would/could be, you must be, must be *ing, might, i/we
    should, i must, i/we need/have to, there/it/that/they/she/he must/should, must admit/say
holds once: this, these, the last/second/third/next/other, now, today, tonight, tomorrow, once more, for now, at the
    moment, currently, asap, next week/month, already, for a, below, following
holds talk: worry, worries, yourself, give up, luck, hesitate, fun, enjoy, enjoying, take care, keep it up, keep
    going/up, stay safe, hope, hopefully, congrats, congratulations, glad, happy, sorry, proud, love, loved, thanks,
    thank, wow, aww, haha, hahaha, lol, yay, omg, amazing, awesome, great, nice, cool, exciting, excited, funny,
    beautiful, sounds, i think/guess/wonder/feel, never mind, let me know, feel free, check out, dream, dreams, heart,
    joy, can't wait, really, so much, definitely, totally, keep me posted, support
"""
)
