/** The context engine: what the host asks before, in and after every turn. */
import { remember } from "./link.mjs";
import { memoryPrompt } from "./memory.mjs";
import {
  batches,
  clipped,
  finished,
  idAfter,
  identified,
  isSubagent,
  isWorthStoring,
  newest,
  owable,
  textOf,
  timeOf,
  wireHistory,
  wireMessage,
  wireTurn,
} from "./messages.mjs";

const HEALTH_DEADLINE_MS = 1000;
const ASSEMBLE_DEADLINE_MS = 1500;
const STORE_DEADLINE_MS = 5000;
const COMPACT_DEADLINE_MS = 120_000;

const ANSWER_KEPT_MS = 600_000;
const QUERY_CHARS = 32_000;
const IDS_ASKED = 300;
const IDS_KNOWN = 10_000;
const QUOTES_KNOWN = 8;
const BYTES_A_TOKEN = 4;

const CONFLICT = -32011;
/** Errors that come again however often a message is sent: other content under its id, not valid, too large. */
const REFUSED = new Set([CONFLICT, -32602, -32015]);

export class Engine {
  info = {
    id: "clew",
    name: "Clew",
    acceptedHostParams: ["sessionKey", "prompt", "abortSignal"],
    transcriptSemantics: {
      currentTurnFence: "before-current-turn-entry-v1",
      turnAdvancementIdempotency: "atomic-idempotent-v1",
    },
    ownsCompaction: true,
    turnMaintenanceMode: "background",
  };

  #plugin;

  constructor(plugin) {
    this.#plugin = plugin;
  }

  async bootstrap() {
    try {
      const { ok, message } = await this.#plugin.call("health", {}, { deadlineMs: HEALTH_DEADLINE_MS });
      return { bootstrapped: ok, reason: message };
    } catch (error) {
      this.#plugin.complain("the daemon is not there", error);
      return { bootstrapped: false, reason: error.message };
    }
  }

  /** Stores a turn that the host holds for complete. Throws where that fails: the host then keeps it and asks again. */
  async commitTurn({ sessionId, sessionKey, messages, isHeartbeat }) {
    const turn = delivered(messages, sessionKey);
    if (isHeartbeat) {
      this.#session(sessionId).note(turn);
      return { status: "committed" };
    }
    const receipts = await this.#store({ sessionId, sessionKey }, turn);
    const known = receipts.length > 0 && receipts.every((receipt) => receipt.duplicate);
    return { status: known ? "duplicate" : "committed" };
  }

  /** How hosts before `commitTurn` deliver: several times a turn, with ever more of it. */
  async afterTurn({ sessionId, sessionKey, messages, prePromptMessageCount = 0, isHeartbeat }) {
    const about = { sessionId, sessionKey, isHeartbeat };
    await this.#deliver(about, delivered(messages, sessionKey, prePromptMessageCount));
  }

  async ingest({ sessionId, sessionKey, message, isHeartbeat }) {
    const count = await this.#deliver({ sessionId, sessionKey, isHeartbeat }, delivered([message], sessionKey));
    return { ingested: count > 0 };
  }

  async ingestBatch({ sessionId, sessionKey, messages, isHeartbeat }) {
    const about = { sessionId, sessionKey, isHeartbeat };
    return { ingestedCount: await this.#deliver(about, delivered(messages, sessionKey)) };
  }

  async assemble(request) {
    try {
      return await this.#assembled(request);
    } catch (error) {
      this.#plugin.complain("this context is without memory", error);
      return withoutMemory(request);
    }
  }

  async compact({ sessionId, tokenBudget, force, abortSignal }) {
    try {
      const options = { deadlineMs: COMPACT_DEADLINE_MS, signal: abortSignal };
      const params = { sessionId, force: Boolean(force), ...budgetFields(tokenBudget) };
      const receipt = await this.#plugin.call("compact", params, options);
      this.#session(sessionId).answer = null;
      return compactResult(receipt);
    } catch (error) {
      this.#plugin.complain("nothing was compacted", error);
      return { ok: false, compacted: false, reason: error.message };
    }
  }

  /** Lets the daemon fold what the last turn pushed out of the tail. The host may wait for this before a turn, so
   * it only starts the work. */
  async maintain({ sessionId }) {
    const session = this.#session(sessionId);
    if (session.grown) {
      session.grown = false;
      const params = { sessionId, ...budgetFields(session.budget) };
      this.#plugin
        .call("compact", params, { deadlineMs: COMPACT_DEADLINE_MS, background: true })
        .then(({ didCompact }) => didCompact && (session.answer = null))
        .catch((error) => this.#plugin.complain("nothing was compacted", error));
    }
    return { changed: false, bytesFreed: 0, rewrittenEntries: 0, reason: "Clew leaves the host's transcript as it is" };
  }

  /** A child reads the same memory; there is nothing to copy for it. */
  async prepareSubagentSpawn() {
    return undefined;
  }

  async onSubagentEnded({ childSessionKey, reason }) {
    await this.#plugin.hint("subagent_ended", { sessionKey: childSessionKey, reason });
  }

  async dispose() {}

  async #assembled(request) {
    const { sessionId, sessionKey, prompt = "", tokenBudget } = request;
    const session = this.#session(sessionId);
    const own = request.messages.filter((message) => !session.isQuote(message));
    const turns = identified(own);
    const asked = { prompt, lastId: turns.at(-1)?.id ?? "" };
    const memoryLines = memoryPrompt(request);
    let answer = session.answerTo(asked, tokenBudget);
    if (answer === null) {
      const since = session.sinceOf(asked) ?? timeOf(own[0]) ?? Date.now();
      session.budget = tokenBudget;
      const context = await this.#ask({ sessionId, sessionKey, prompt, tokenBudget, since }, turns);
      answer = session.keep({ ...asked, since, at: performance.now(), ...answerOf(context) });
      this.#catchUp({ sessionId, sessionKey }, finished(turns, prompt));
    }
    const addition = [answer.authored, await memoryLines].filter(Boolean).join("\n\n");
    return {
      messages: [...own.slice(Math.max(own.length - answer.count, 0)), ...answer.quotes],
      estimatedTokens: answer.tokens,
      ...(addition ? { systemPromptAddition: addition } : {}),
    };
  }

  async #ask({ sessionId, sessionKey, prompt, tokenBudget, since }, turns) {
    const params = {
      sessionId,
      userId: this.#plugin.userOf({ sessionKey }),
      messages: newest(turns, tokenBudget).map(wireMessage),
      since,
      ...(prompt ? { query: clipped(prompt.toWellFormed(), QUERY_CHARS) } : {}),
      ...budgetFields(tokenBudget),
    };
    const context = await this.#plugin.call("assemble", params, { deadlineMs: ASSEMBLE_DEADLINE_MS });
    if (context.degraded.length > 0) this.#plugin.logger.debug?.(`clew: ${context.degraded.join("; ")}`);
    return context;
  }

  /** Stores what the host knows and never delivered: a session older than Clew, and turns it answered alone while no
   * daemon was there. One look at a time, beside the turn: what it misses is there for the next. */
  #catchUp(about, turns) {
    const session = this.#session(about.sessionId);
    if (session.isCatchingUp) return;
    session.isCatchingUp = true;
    this.#takeOver(about, session, turns)
      .catch((error) => this.#plugin.complain("earlier turns were not caught up", error))
      .finally(() => (session.isCatchingUp = false));
  }

  /** What will still be delivered is left to that: only then it is known whose words they are. */
  async #takeOver(about, session, turns) {
    const owed = new Set(session.owed.map(({ id }) => id));
    const open = turns.filter((turn) => isWorthStoring(turn) && !session.isStored(turn) && !owed.has(turn.id));
    const found = new Set();
    for (let start = 0; start < open.length; start += IDS_ASKED) {
      const ids = open.slice(start, start + IDS_ASKED).map(({ id }) => id);
      const params = { collection: `session_raw:${about.sessionId}`, ids, maxChars: 1 };
      const { records } = await this.#plugin.call("get", params, { deadlineMs: STORE_DEADLINE_MS, background: true });
      session.note(records);
      for (const { id } of records) found.add(id);
    }
    const missing = open.filter(({ id }) => !found.has(id));
    await this.#store(about, missing.map(wireHistory), { isHistory: true });
  }

  /** For hosts that deliver each message once and go on: what cannot be stored now is tried again with the next. */
  async #deliver({ isHeartbeat, ...about }, messages) {
    const session = this.#session(about.sessionId);
    if (isHeartbeat) {
      session.note(messages);
      return 0;
    }
    const owed = [...new Map([...session.owed, ...messages].map((message) => [message.id, message])).values()];
    try {
      const receipts = await this.#store(about, owed);
      session.owed = [];
      return receipts.filter((receipt) => receipt.stored).length;
    } catch (error) {
      session.owed = owable(owed);
      this.#plugin.complain("messages wait to be stored", error);
      return 0;
    }
  }

  /** Sends messages in batches, each stored as a whole or not at all; sending one again changes nothing. */
  async #store({ sessionId, sessionKey }, messages, { isHistory = false } = {}) {
    const until = performance.now() + STORE_DEADLINE_MS;
    const about = isSubagent(sessionKey) ? { sessionId } : { sessionId, userId: this.#plugin.userOf({ sessionKey }) };
    const session = this.#session(sessionId);
    const receipts = [];
    const send = async (part) => {
      const deadlineMs = isHistory ? STORE_DEADLINE_MS : Math.max(until - performance.now(), 1);
      const options = { deadlineMs, background: isHistory, eager: !isHistory };
      const answer = await this.#plugin.call("ingest_batch", { ...about, messages: part }, options);
      receipts.push(...answer.receipts);
    };
    for (const batch of batches(messages)) {
      try {
        await send(batch);
      } catch (error) {
        if (!REFUSED.has(error.code)) throw error;
        await this.#sendEach(batch, send, isHistory);
      }
      session.note(batch);
    }
    session.grown ||= receipts.some((receipt) => receipt.stored);
    return receipts;
  }

  /** One message the daemon will never take must not hold up the others. Where its id is taken by other words, those of
   * the host's history are the same message as it was delivered. A delivered one is another message of the same moment
   * and goes under the next id; where that is taken, too, it is there already. */
  async #sendEach(batch, send, isHistory) {
    for (const message of batch) {
      for (const id of isHistory ? [message.id] : [message.id, idAfter(message.id)]) {
        const error = await send([{ ...message, id }]).then(() => null, (reason) => reason);
        if (error !== null && !REFUSED.has(error.code)) throw error;
        if (error !== null && error.code !== CONFLICT) this.#plugin.complain("a message cannot be stored", error);
        if (error?.code !== CONFLICT) break;
      }
    }
  }

  #session(sessionId) {
    const { sessions } = this.#plugin.link;
    return remember(sessions, sessionId, sessions.get(sessionId) ?? new Session());
  }
}

/** What is known of a session in this process, beyond one engine: the host makes a new one for every turn. */
class Session {
  answer = null;
  /** What its contexts are allowed: a compaction must leave as much as they have room for. */
  budget = undefined;
  /** Whether turns came in since the last compaction was asked for. */
  grown = false;
  /** Messages that could not be stored yet. */
  owed = [];
  isCatchingUp = false;
  #stored = new Set();
  #quotes = [];

  /** Whether it is known that the daemon has a message, will never take it, or shall not have it. */
  isStored({ id }) {
    return this.#stored.has(id);
  }

  /** Keeps the ids of messages that need not be looked for again. */
  note(messages) {
    for (const { id } of messages) this.#stored.add(id);
    for (const id of this.#stored) {
      if (this.#stored.size <= IDS_KNOWN) break;
      this.#stored.delete(id);
    }
  }

  /** The host shows an engine its own view again before every further model call of a turn. */
  isQuote(message) {
    return message.role === "user" && this.#quotes.includes(textOf(message));
  }

  /** The answer to the same question at the same place, so that one turn counts as one use of what it recalls. */
  answerTo(asked, tokenBudget) {
    const answer = this.answer;
    const isFresh = this.#isSame(asked) && performance.now() - answer.at < ANSWER_KEPT_MS;
    return isFresh && answer.tokens <= (tokenBudget ?? Infinity) ? answer : null;
  }

  /** When the conversation began, if its beginning is no longer among the messages. */
  sinceOf(asked) {
    return this.#isSame(asked) ? this.answer.since : null;
  }

  keep(answer) {
    this.answer = answer;
    this.#quotes = [...this.#quotes, ...answer.quotes.map(textOf)].slice(-QUOTES_KNOWN);
    return answer;
  }

  #isSame({ prompt, lastId }) {
    return this.answer !== null && this.answer.prompt === prompt && this.answer.lastId === lastId;
  }
}

/** What the host delivers, as it is kept: all of it, or what comes after the first messages. */
function delivered(messages, sessionKey, passedOver = 0) {
  return identified(messages).slice(passedOver).filter(isWorthStoring).map((turn) => wireTurn(turn, sessionKey));
}

/** What is needed of a context: how many of the newest messages stay, and what is quoted after them, as data. */
function answerOf(context) {
  const quoted = [context.guidanceText, context.recalledText].filter(Boolean).join("\n\n");
  return {
    count: context.messages.length,
    quotes: quoted ? [{ role: "user", content: [{ type: "text", text: quoted }], timestamp: Date.now() }] : [],
    authored: context.authoredText,
    tokens: context.usedTokens,
  };
}

/** The host's own messages; where they are over the budget, the newest that fit, from a user's message on. */
function withoutMemory({ messages, tokenBudget = Infinity }) {
  const sizes = messages.map((message) => Math.ceil(Buffer.byteLength(textOf(message)) / BYTES_A_TOKEN) + 4);
  let tokens = sizes.reduce((sum, size) => sum + size, 0);
  const starts = [{ start: 0, tokens }];
  for (const [place, size] of sizes.entries()) {
    if (place > 0 && messages[place].role === "user") starts.push({ start: place, tokens });
    tokens -= size;
  }
  const best = starts.find((suffix) => suffix.tokens <= tokenBudget) ?? starts.at(-1);
  return { messages: messages.slice(best.start), estimatedTokens: best.tokens };
}

function compactResult(receipt) {
  const { tokensBefore, tokensAfter, turnsRemoved, summaries, degraded } = receipt;
  const done = `${summaries.length} summaries stand for ${turnsRemoved} turns now`;
  const outcome = receipt.didCompact ? done : "no turns outside the tail could be made smaller";
  const reason = [outcome, ...degraded].join("; ");
  const result = { tokensBefore, tokensAfter, details: { turnsRemoved, summaries: summaries.length } };
  return { ok: true, compacted: receipt.didCompact, reason, result };
}

/** The daemon takes budgets within bounds; a host's may be whatever is left of a window. */
function budgetFields(tokenBudget) {
  if (!Number.isFinite(tokenBudget)) return {};
  return { budgetTokens: Math.min(Math.max(Math.floor(tokenBudget), 64), 10_000_000) };
}
