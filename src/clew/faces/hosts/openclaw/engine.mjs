/** The context engine: answers the host before, in and after every turn. */
import { remember } from "./bounded.mjs";
import { memoryPrompt } from "./memory.mjs";
import {
  batches,
  clipText,
  dropRunningTurn,
  giveIds,
  idAfter,
  isWorthStoring,
  keepNewest,
  newestMessages,
  textOf,
  wireHistory,
  wireMessage,
  wireTurn,
} from "./messages.mjs";
import { conversationOf, isHidden, personOf, speakerAmong } from "./scope.mjs";
import { Session } from "./session.mjs";

const HEALTH_DEADLINE_MS = 1000;
const ASSEMBLE_DEADLINE_MS = 1500;
const STORE_DEADLINE_MS = 5000;
const COMPACT_DEADLINE_MS = 120_000;

const QUERY_CHARS = 32_000;
const IDS_ASKED = 300;
const BYTES_A_TOKEN = 4;

/** The host takes a compaction without effect as harmless for this reason alone; for any other it fails the turn. */
const NOTHING = "nothing to compact";

const CONFLICT = -32011;
/** Errors that no repetition changes: other content under the same id, not valid, too large. */
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

  /** Stores a turn that is complete for the host. Throws where that fails: the host then keeps it and asks again. */
  async commitTurn({ sessionId, sessionKey, messages, isHeartbeat }) {
    const turn = this.#delivered(messages, sessionKey);
    if (isHeartbeat || isHidden(sessionKey)) {
      this.#session(sessionId).note(turn);
      return { status: "committed" };
    }
    const person = this.#writer(sessionKey, messages);
    const receipts = await this.#store({ sessionId, person }, turn);
    this.#session(sessionId).relieve();
    this.#plugin.link.speakers.forget(sessionKey);
    const known = receipts.length > 0 && receipts.every((receipt) => receipt.duplicate);
    return { status: known ? "duplicate" : "committed" };
  }

  /** Takes a turn from hosts before `commitTurn`, which deliver it several times, with ever more of it. */
  async afterTurn({ messages, prePromptMessageCount = 0, ...about }) {
    await this.#deliver(about, messages, prePromptMessageCount);
  }

  async ingest({ message, ...about }) {
    return { ingested: (await this.#deliver(about, [message])) > 0 };
  }

  async ingestBatch({ messages, ...about }) {
    return { ingestedCount: await this.#deliver(about, messages) };
  }

  async assemble(request) {
    if (isHidden(request.sessionKey)) return newestOf(request.messages, request.tokenBudget);
    const session = this.#session(request.sessionId);
    const own = request.messages.filter((message) => !session.isQuote(message));
    const turns = giveIds(own);
    const person = this.#plugin.readerIn(request.sessionKey, own);
    const asked = { person, prompt: request.prompt ?? "", lastId: turns.at(-1)?.id ?? "" };
    const room = session.roomFor(asked, request.tokenBudget);
    try {
      return await this.#assembled(request, { session, own, turns, asked, room });
    } catch (error) {
      this.#plugin.complain("this context is without memory", error);
      return session.took(newestOf(own, room.limit));
    }
  }

  /** Makes the next context smaller. Where the host names the size of its prompt, it must shrink even if no turn can be
   * compacted: recalled text goes first, then the tail down to its base. */
  async compact({ sessionId, tokenBudget, currentTokenCount, force, abortSignal }) {
    const session = this.#session(sessionId);
    const saved = session.shrink(currentTokenCount, tokenBudget);
    try {
      const options = { deadlineMs: COMPACT_DEADLINE_MS, signal: abortSignal };
      const params = { sessionId, force: Boolean(force), ...budgetFields(tokenBudget) };
      const receipt = await this.#plugin.call("compact", params, options);
      session.answer = null;
      return compactResult(receipt, currentTokenCount, saved);
    } catch (error) {
      if (abortSignal?.aborted) return { ok: false, compacted: false, reason: error.message };
      this.#plugin.complain("nothing was compacted", error);
      if (saved > 0) return shrunkResult(currentTokenCount, saved, error.message);
      return { ok: true, compacted: false, reason: `${NOTHING}: ${error.message}` };
    }
  }

  /** Lets the daemon compact the turns that the last one pushed out of the tail. The host may wait for this before a
   * turn, so it only starts the work. */
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

  /** A child reads what its parent may read now; there is nothing to copy for it. */
  async prepareSubagentSpawn({ parentSessionKey, childSessionKey }) {
    this.#plugin.link.speakers.noteParent(childSessionKey, parentSessionKey);
    return undefined;
  }

  async onSubagentEnded({ childSessionKey, reason }) {
    await this.#plugin.hint("subagent_ended", { sessionKey: childSessionKey, reason });
  }

  async dispose() {}

  async #assembled(request, { session, own, turns, asked, room }) {
    const { sessionId, sessionKey } = request;
    const memoryLines = memoryPrompt(request);
    let answer = session.answerTo(asked, room);
    if (answer === null) {
      const since = session.beganAt(asked, own);
      const context = await this.#ask({ sessionId, ...asked, room, since }, turns);
      answer = session.keep({ ...asked, at: performance.now(), ...answerOf(context) });
      this.#catchUp({ sessionId, sessionKey }, dropRunningTurn(turns, asked.prompt));
    }
    const addition = [answer.authored, await memoryLines].filter(Boolean).join("\n\n");
    return session.took({
      messages: [...own.slice(Math.max(own.length - answer.count, 0)), ...answer.quotes],
      estimatedTokens: answer.tokens,
      ...(addition ? { systemPromptAddition: addition } : {}),
    });
  }

  async #ask({ sessionId, person, prompt, room, since }, turns) {
    const params = {
      sessionId,
      ...(person ? { userId: person } : {}),
      messages: newestMessages(turns, room.budget).map(wireMessage),
      since,
      ...(prompt ? { query: clipText(prompt.toWellFormed(), QUERY_CHARS) } : {}),
      ...budgetFields(room.budget),
      ...(Number.isFinite(room.limit) ? { limitTokens: Math.max(Math.floor(room.limit), 64) } : {}),
    };
    const context = await this.#plugin.call("assemble", params, { deadlineMs: ASSEMBLE_DEADLINE_MS });
    if (context.degraded.length > 0) this.#plugin.logger.debug?.(`clew: ${context.degraded.join("; ")}`);
    return context;
  }

  /** The owner of the memory that a turn adds to: the one person who speaks in it. A subagent's orders have none. */
  #writer(sessionKey, messages) {
    const { speaker } = this.#plugin.link.speakers.at(sessionKey);
    return personOf(this.#plugin, conversationOf(sessionKey), speakerAmong(messages) ?? speaker);
  }

  /** Stores turns that the host never delivered: of a session older than Clew, and from a time without a daemon. One run
   * at a time goes beside the turn; the next run finds the turns that this one misses. */
  #catchUp(about, turns) {
    const session = this.#session(about.sessionId);
    if (session.isCatchingUp) return;
    session.isCatchingUp = true;
    this.#takeOver(about, session, turns)
      .catch((error) => this.#plugin.complain("earlier turns were not caught up", error))
      .finally(() => (session.isCatchingUp = false));
  }

  /** Leaves out turns that the host will still deliver: only then does Clew know whose words they are. */
  async #takeOver({ sessionId, sessionKey }, session, turns) {
    const owed = new Set(session.owed.map(({ message }) => message.id));
    const open = turns.filter((turn) => isWorthStoring(turn) && !session.isStored(turn) && !owed.has(turn.id));
    const missing = await this.#notIn(sessionId, session, open);
    const said = this.#attributed(sessionKey, turns).filter(({ turn }) => missing.has(turn.id));
    const copied = await this.#standElsewhere(sessionId, said);
    const kept = said.filter(({ turn }) => !copied.has(turn.id));
    session.note([...copied].map((id) => ({ id })));
    const messages = kept.map(({ person, turn }) => ({ person, message: wireHistory(turn, this.#plugin, sessionKey) }));
    await this.#storeRuns(sessionId, messages, { isHistory: true });
  }

  /** The ids of the turns that a session of the store lacks. */
  async #notIn(sessionId, session, turns) {
    const missing = new Set(turns.map(({ id }) => id));
    for (let start = 0; start < turns.length; start += IDS_ASKED) {
      const ids = turns.slice(start, start + IDS_ASKED).map(({ id }) => id);
      const params = { collection: `session_raw:${sessionId}`, ids, maxChars: 1 };
      const { records } = await this.#plugin.call("get", params, { deadlineMs: STORE_DEADLINE_MS, background: true });
      session.note(records);
      for (const { id } of records) missing.delete(id);
    }
    return missing;
  }

  /** The ids of turns that another session of the same person holds. The host copies sessions: a branch begins with all
   * earlier turns, and Clew does not store them again. */
  async #standElsewhere(sessionId, said) {
    const first = said.find(({ person, turn }) => person && turn.role === "user");
    if (!first) return new Set();
    const options = { deadlineMs: STORE_DEADLINE_MS, background: true };
    const params = { userId: first.person, id: first.turn.id };
    const { sessions } = await this.#plugin.call("find_turn", params, options);
    const origin = sessions.find((other) => other !== sessionId);
    if (origin === undefined) return new Set();
    const theirs = said.filter(({ person }) => person === first.person).map(({ turn }) => turn);
    const missing = await this.#notIn(origin, this.#session(origin), theirs);
    return new Set(theirs.map(({ id }) => id).filter((id) => !missing.has(id)));
  }

  /** Each turn of a history with the owner of its memory: a reply belongs to the person it answers. */
  #attributed(sessionKey, turns) {
    const conversation = conversationOf(sessionKey);
    let person = personOf(this.#plugin, conversation, null);
    return turns.map((turn) => {
      if (turn.role === "user") person = personOf(this.#plugin, conversation, speakerAmong([turn.message]));
      return { person, turn };
    });
  }

  /** For hosts that deliver each message once: tries a message again with the next one where it cannot store it now. */
  async #deliver({ sessionId, sessionKey, isHeartbeat }, messages, passedOver = 0) {
    const session = this.#session(sessionId);
    const turn = this.#delivered(messages, sessionKey, passedOver);
    if (isHeartbeat || isHidden(sessionKey)) {
      session.note(turn);
      return 0;
    }
    const person = this.#writer(sessionKey, messages.slice(passedOver));
    const now = turn.map((message) => [message.id, { person, message }]);
    const owed = [...new Map([...session.owed.map((item) => [item.message.id, item]), ...now]).values()];
    try {
      const receipts = await this.#storeRuns(sessionId, owed);
      session.owed = [];
      return receipts.filter((receipt) => receipt.stored).length;
    } catch (error) {
      session.owed = keepNewest(owed);
      this.#plugin.complain("messages wait to be stored", error);
      return 0;
    }
  }

  /** Stores messages that may add to the memory of several people, in their order. */
  async #storeRuns(sessionId, items, options) {
    const receipts = [];
    for (let start = 0, end = 0; start < items.length; start = end) {
      const { person } = items[start];
      while (end < items.length && items[end].person === person) end += 1;
      const messages = items.slice(start, end).map(({ message }) => message);
      receipts.push(...(await this.#store({ sessionId, person }, messages, options)));
    }
    return receipts;
  }

  /** Sends messages in batches, each stored as a whole or not at all; sending one again changes nothing. */
  async #store({ sessionId, person }, messages, { isHistory = false } = {}) {
    const until = performance.now() + STORE_DEADLINE_MS;
    const about = person ? { sessionId, userId: person } : { sessionId };
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

  /** Gets past a message that the daemon refuses, so that it does not hold up the others. Where other words have its
   * id, a message of the host's history is the delivered one in another form. A delivered message is another one of the
   * same moment and takes the next id; where that is taken, too, the daemon has it already. */
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

  /** The delivered messages in the form to keep: all of them, or those after the first ones. */
  #delivered(messages, sessionKey, passedOver = 0) {
    const turns = giveIds(messages).slice(passedOver).filter(isWorthStoring);
    return turns.map((turn) => wireTurn(turn, this.#plugin, sessionKey));
  }

  #session(sessionId) {
    const { sessions } = this.#plugin.link;
    return remember(sessions, sessionId, sessions.get(sessionId) ?? new Session());
  }
}

/** The parts of a context that the host needs: the number of newest messages, and the quotations after them. */
function answerOf(context) {
  const quoted = [context.guidanceText, context.recalledText].filter(Boolean).join("\n\n");
  return {
    count: context.messages.length,
    quotes: quoted ? [{ role: "user", content: [{ type: "text", text: quoted }], timestamp: Date.now() }] : [],
    authored: context.authoredText,
    tokens: context.usedTokens,
  };
}

/** The newest messages that fit a budget, from a user's message on; all of them where they do. */
function newestOf(messages, tokenBudget = Infinity) {
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

/** The outcome of a compaction for the host. */
function compactResult(receipt, currentTokens, saved) {
  const { didCompact, tokensBefore, tokensAfter, turnsRemoved, summaries, degraded } = receipt;
  const done = `${summaries.length} summaries cover ${turnsRemoved} turns now`;
  if (saved > 0) return shrunkResult(currentTokens, saved, [...(didCompact ? [done] : []), ...degraded].join("; "));
  const outcome = didCompact ? done : `${NOTHING}: no turns outside the tail could be made smaller`;
  const result = { tokensBefore, tokensAfter, details: { turnsRemoved, summaries: summaries.length } };
  return { ok: true, compacted: didCompact, reason: [outcome, ...degraded].join("; "), result };
}

/** The outcome where the next context is smaller, with or without compacted turns. */
function shrunkResult(currentTokens, saved, more) {
  const reason = [`the next context takes ${saved} tokens less`, more].filter(Boolean).join("; ");
  return { ok: true, compacted: true, reason, result: { tokensBefore: currentTokens, tokensAfter: currentTokens - saved } };
}

/** Brings a budget within the bounds of the daemon; a host may give whatever is left of a window. */
function budgetFields(tokenBudget) {
  if (!Number.isFinite(tokenBudget)) return {};
  return { budgetTokens: Math.min(Math.max(Math.floor(tokenBudget), 64), 10_000_000) };
}
