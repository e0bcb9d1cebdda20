/** One session in this process: its last answer, its budget, and the messages that are still to be stored. */
import { isMadeUp, textOf, timeOf } from "./messages.mjs";

const ANSWER_KEPT_MS = 600_000;
const IDS_KNOWN = 10_000;
const QUOTES_KNOWN = 8;

/** The share of the host's budget for a context: the rest is for the next turn, before the host looks again. */
const BUDGET_SHARE = 0.8;
/** The share of the host's budget for its whole prompt after it had to shrink. */
const SHRUNK_SHARE = 0.6;
/** The growth of a limit with every turn that kept within it. */
const RELIEF = 1.05;
/** Below this a context has no room for one summary beside its newest turns, and the prompt gains nothing. */
const LEAST_TOKENS = 512;

/** Outlives the engine: the host makes a new one for every turn. */
export class Session {
  answer = null;
  /** The budget of its contexts: a compaction must leave as much as they have room for. */
  budget = undefined;
  /** Whether turns came in since the last compaction was asked for. */
  grown = false;
  /** Messages that the daemon has not stored yet, each with the owner of its memory. */
  owed = [];
  isCatchingUp = false;
  #began = Infinity;
  #limit = Infinity;
  #turn = null;
  #used = null;
  #stored = new Set();
  #quotes = [];

  /** Whether the daemon has a message, will never take it, or must not have it, as far as this process knows. */
  isStored({ id }) {
    return this.#stored.has(id);
  }

  /** Notes the ids of messages that nobody needs to look for again. */
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

  /** The budget of a context now. The host's first budget of a turn leaves room for the system prompt and the reply.
   * Later ones of the same turn are the rest of the whole window: of those only the change counts. */
  roomFor({ prompt, lastId }, tokenBudget) {
    if (!Number.isFinite(tokenBudget)) return { budget: undefined, limit: this.#limit };
    const isSame = this.#turn?.prompt === prompt && this.#turn.lastId === lastId;
    if (!isSame) this.#turn = { prompt, lastId, first: tokenBudget, second: null };
    else this.#turn.second ??= Math.max(tokenBudget, this.#turn.first);
    const { first, second } = this.#turn;
    const budget = second === null ? first : Math.min(first, first - (second - tokenBudget));
    this.budget = first;
    return { budget: first, limit: Math.max(Math.min(budget * BUDGET_SHARE, this.#limit), LEAST_TOKENS) };
  }

  /** Makes the next contexts smaller by the excess over the host's budget. Gives the number of saved tokens. */
  shrink(currentTokens, tokenBudget) {
    if (!Number.isFinite(currentTokens) || !Number.isFinite(tokenBudget)) return 0;
    const used = this.#used ?? Math.min(currentTokens, tokenBudget);
    const target = tokenBudget * SHRUNK_SHARE;
    const others = Math.max(currentTokens - used, 0);
    const limit = Math.max(target - others, (used * target) / currentTokens / 2, LEAST_TOKENS);
    if (limit >= used) return 0;
    this.#limit = this.#used = Math.floor(limit);
    return Math.ceil(used - limit);
  }

  /** Raises the limit after a turn that went well. */
  relieve() {
    this.#limit *= RELIEF;
    if (this.#limit > (this.budget ?? 0)) this.#limit = Infinity;
  }

  /** The answer to the same question at the same place, so that one turn counts as one use of what it recalls. */
  answerTo(asked, { limit }) {
    const answer = this.answer;
    const isFresh = this.#isSame(asked) && performance.now() - answer.at < ANSWER_KEPT_MS;
    return isFresh && answer.tokens <= limit ? answer : null;
  }

  /** The beginning of the conversation. The host may show only its end; where it shows nothing, it begins now. */
  beganAt(asked, messages) {
    const first = messages.find((message) => timeOf(message) !== null && !isMadeUp(message));
    if (first) this.#began = Math.min(this.#began, timeOf(first));
    else if (!this.#isSame(asked)) this.#began = Date.now();
    return this.#began;
  }

  /** Notes the size of a context, for the moment when the host wants its prompt to shrink. */
  took(context) {
    this.#used = context.estimatedTokens;
    return context;
  }

  keep(answer) {
    this.answer = answer;
    this.#quotes = [...this.#quotes, ...answer.quotes.map(textOf)].slice(-QUOTES_KNOWN);
    return answer;
  }

  #isSame({ person, prompt, lastId }) {
    const { answer } = this;
    return answer !== null && answer.person === person && answer.prompt === prompt && answer.lastId === lastId;
  }
}
