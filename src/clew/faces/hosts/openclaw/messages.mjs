/** Turns the host's messages into those of the daemon: texts, ids, sizes, and only the fields named here. */
import { createHash } from "node:crypto";

import { conversationOf, personOf, senderOf } from "./scope.mjs";

const TEXT_BYTES = 256 * 1024;
const ID_CHARS = 24;
const BATCH_BYTES = 400 * 1024;
const BATCH_MESSAGES = 200;
const MESSAGES_SENT = 400;
const CHARS_A_TOKEN = 3;
const ARGUMENTS_CHARS = 2000;
const HINT_CHARS = 500;
const OWED_BYTES = 4 * 1024 * 1024;

/** Clew must not learn again what it recalled. */
const OWN_TOOLS = new Set(["memory_search", "memory_get"]);
const RECALLED = "[recalled from Clew]";

const BOOTSTRAP = "(session bootstrap)";
const ROLES = { user: "user", assistant: "assistant", toolResult: "tool", system: "system" };

/** Gives messages their texts and ids. Only the user's messages have a key of the host's own, so an id comes from role
 * and time, with a number where several share them. It does not come from the words: the host cuts, marks and joins
 * them in its history, where a message must have the id of its delivery, and a hash would tell something of a secret. */
export function giveIds(messages) {
  const seen = new Map();
  return messages.map((message) => {
    const text = textOf(message);
    const mark = [message.role, timeOf(message) ?? text].join("\n");
    const base = createHash("sha256").update(mark).digest("hex").slice(0, ID_CHARS);
    const count = (seen.get(base) ?? 0) + 1;
    seen.set(base, count);
    return { message, text, role: ROLES[message.role] ?? "system", id: count === 1 ? base : `${base}-${count}` };
  });
}

/** The id of the next message of the same role and time. */
export function idAfter(id) {
  const [base, count = "1"] = id.split("-");
  return `${base}-${Number(count) + 1}`;
}

/** A message for the daemon: nothing else of it ever leaves this process. */
export function wireMessage({ message, text, role, id }) {
  const wire = { role, text: cut(text), id };
  const ts = timeOf(message);
  if (ts !== null) wire.ts = ts;
  if (role === "assistant") wire.toolCallIds = blocksOf(message).filter(isToolCall).map(({ id: call }) => String(call));
  if (role === "tool" && message.toolCallId) wire.toolCallId = String(message.toolCallId);
  return wire;
}

/** The same for a delivered message: with the tool's name, and the source of a text that is not the person's own. */
export function wireTurn(turn, settings, sessionKey) {
  return kept(turn, sourceOf(settings, turn.message, sessionKey));
}

/** The same for a message of the host's history. There one message can hold the words of several people, under the
 * marks of the last of them: only a whole message that is marked with its sender is that sender's. */
export function wireHistory(turn, settings, sessionKey) {
  const isMarked = senderOf(turn.message) !== null && !isJoined(turn.message);
  return kept(turn, isMarked ? sourceOf(settings, turn.message, sessionKey) : "openclaw:history");
}

function isJoined(message) {
  return blocksOf(message).filter(({ type }) => type === "text").length > 1;
}

function kept(turn, source) {
  const wire = wireMessage(turn);
  if (turn.role === "user" && source) wire.source = source;
  const { toolName, isError } = turn.message;
  if (OWN_TOOLS.has(toolName)) wire.text = RECALLED;
  if (turn.role === "tool") wire.metadata = { toolName: String(toolName ?? ""), isError: isError === true };
  return wire;
}

/** Guests in a channel, hooks, other sessions and the host itself write in the user's role, too. The host marks the
 * sender; where it names none, the session's key tells whether a person is there at all. */
function sourceOf(settings, message, sessionKey) {
  const { provenance, __openclaw: host } = message;
  if (["inter_session", "internal_system"].includes(provenance?.kind)) return `openclaw:${provenance.kind}`;
  const conversation = conversationOf(sessionKey);
  const sender = senderOf(message);
  if (sender?.isOwner || (sender && personOf(settings, conversation, sender))) return null;
  if (sender || Object.keys(host ?? {}).some((name) => name.startsWith("sender"))) return "openclaw:guest";
  return ["hook", "cron"].includes(conversation.kind) ? `openclaw:${conversation.kind}` : null;
}

/** The fields of a hook's event that leave this process. */
export function hintFields(about) {
  const texts = ["reason", "sessionId", "sessionKey", "agentId", "nextSessionId", "nextSessionKey"]
    .filter((name) => typeof about[name] === "string")
    .map((name) => [name, clipText(about[name].toWellFormed(), HINT_CHARS)]);
  const counts = ["messageCount", "durationMs"]
    .filter((name) => Number.isFinite(about[name]))
    .map((name) => [name, Math.round(about[name])]);
  return Object.fromEntries([...texts, ...counts]);
}

export function textOf(message) {
  if (typeof message.content === "string") return message.content.toWellFormed();
  return blocksOf(message).map(blockText).filter(Boolean).join("\n").toWellFormed();
}

function blocksOf({ content }) {
  return Array.isArray(content) ? content : [];
}

/** A block in words; a model's thinking is not part of the conversation. */
function blockText(block) {
  if (block?.type === "text") return String(block.text ?? "");
  if (isToolCall(block)) return `${block.name}(${clipText(asJson(block.arguments ?? {}), ARGUMENTS_CHARS)})`;
  return block?.type === "image" ? "[image]" : "";
}

function isToolCall(block) {
  return block?.type === "toolCall";
}

function asJson(value) {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "…";
  }
}

/** Whether a message holds words that somebody said. */
export function isWorthStoring({ message, text }) {
  return message.role in ROLES && text.trim() !== "" && !isMadeUp(message);
}

/** Whether the host made the message up, as it does where a tool's result is missing, or a history begins with an
 * answer. */
export function isMadeUp({ role, content, details }) {
  return details?.openclawSyntheticMissingToolResult === true || (role === "user" && content === BOOTSTRAP);
}

export function timeOf(message) {
  return Number.isSafeInteger(message?.timestamp) && message.timestamp >= 0 ? message.timestamp : null;
}

/** The newest messages that a context of this budget can hold; they begin with a user's message unless all fit. */
export function newestMessages(turns, tokenBudget) {
  let chars = CHARS_A_TOKEN * (tokenBudget ?? Infinity);
  let bytes = BATCH_BYTES;
  let start = turns.length;
  while (start > 0 && turns.length - start < MESSAGES_SENT) {
    const { text } = turns[start - 1];
    chars -= text.length;
    bytes -= Math.min(jsonBytes(text), TEXT_BYTES) + 200;
    if (start < turns.length && (chars < 0 || bytes < 0)) break;
    start -= 1;
  }
  const kept = turns.slice(start);
  const firstOfUser = start === 0 ? 0 : kept.findIndex(({ role }) => role === "user");
  return kept.slice(Math.max(firstOfUser, 0));
}

/** Drops the running turn, which older hosts show before they deliver it. */
export function dropRunningTurn(turns, prompt) {
  const start = turns.findLastIndex(({ role }) => role === "user");
  const isUnderWay = prompt !== "" && start >= 0 && turns[start].text.includes(prompt);
  return isUnderWay ? turns.slice(0, start) : turns;
}

/** The newest messages, as many as one session may hold in this process until the daemon stores them. */
export function keepNewest(messages) {
  let bytes = OWED_BYTES;
  const start = messages.findLastIndex((message) => (bytes -= jsonBytes(message)) < 0);
  return messages.slice(start + 1);
}

export function* batches(messages) {
  let batch = [];
  let bytes = 0;
  for (const message of messages) {
    const size = jsonBytes(message);
    if (batch.length === BATCH_MESSAGES || (batch.length > 0 && bytes + size > BATCH_BYTES)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(message);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

/** The text, or its beginning with a mark at the cut, so that it fits a request. */
function cut(text) {
  let kept = text;
  for (let bytes = jsonBytes(kept); bytes > TEXT_BYTES; bytes = jsonBytes(kept)) {
    kept = clipText(kept, Math.floor(kept.length * Math.min((TEXT_BYTES - 200) / bytes, 0.9)));
  }
  return kept === text ? text : `${kept}\n[cut: ${text.length - kept.length} more characters]`;
}

export function clipText(text, maxChars) {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

function jsonBytes(value) {
  return Buffer.byteLength(JSON.stringify(value));
}
