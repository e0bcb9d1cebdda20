/** Who speaks in a conversation, and whose memory it may see. The host knows who is there; Clew obeys it.
 *
 * A session's key says what kind of conversation it is, and the host marks a message with who sent it. The memory of a
 * person is for that person alone: groups, strangers and outside hooks get their session, and what is shared with all.
 */
import { remember } from "./bounded.mjs";

const DIRECT = new Set(["direct", "dm"]);
const GROUP = new Set(["group", "channel", "room", "space"]);

/** What a session's key says: its agent, the kind of conversation, and for a direct one with whom. */
export function conversationOf(sessionKey = "") {
  const [, agentId = "", rest = sessionKey] = /^agent:([^:]*):(.*)$/is.exec(sessionKey) ?? [];
  const parts = rest.toLowerCase().replace(/:thread:.*$/s, "").split(":");
  const kindAt = parts.slice(0, 3).findIndex((part) => DIRECT.has(part));
  if (parts[0] === "internal-session-effects" || parts[1]?.startsWith("incognito-")) return { agentId, kind: "hidden" };
  if (parts[0] === "subagent") return { agentId, kind: "subagent" };
  if (parts[0] === "hook" || parts[0] === "cron") return { agentId, kind: parts[0] };
  if (parts.slice(1, 3).some((part) => GROUP.has(part))) return { agentId, kind: "group" };
  if (kindAt < 0) return { agentId, kind: "private" };
  return { agentId, kind: "direct", channel: kindAt > 0 ? parts[0] : "", peer: parts.slice(kindAt + 1).join(":") };
}

/** Whether nothing of a session is to be kept: the host's own working copies, and what it calls incognito. */
export function isHidden(sessionKey) {
  return conversationOf(sessionKey).kind === "hidden";
}

/** Who sent a message, as the host marks it; null where it does not say. */
export function senderOf({ __openclaw: host }) {
  if (typeof host?.senderIsOwner !== "boolean") return null;
  return { isOwner: host.senderIsOwner, id: host.senderId, channel: host.transport?.channel };
}

/** The one sender of messages that counts for all of them: a stranger among them, else the last who is known. */
export function speakerAmong(messages) {
  const senders = messages.filter(({ role }) => role === "user").map(senderOf).filter(Boolean);
  return senders.find(({ isOwner }) => !isOwner) ?? senders.at(-1) ?? null;
}

/** Whose memory a conversation reads and adds to; null where it is nobody's. */
export function personOf({ user, people }, conversation, speaker) {
  const { agentId, kind, channel, peer } = conversation;
  if (!["private", "direct", "cron"].includes(kind)) return null;
  const named = nameOf(people, speaker ?? { channel, id: peer });
  if (named) return named;
  const isOwner = speaker?.isOwner ?? kind !== "direct";
  return isOwner ? user || agentId || "main" : null;
}

/** The person that the settings name for a sender of a channel. */
function nameOf(people, { channel, id }) {
  const address = `${channel ?? ""}:${id ?? ""}`.toLowerCase();
  const isTheirs = (given) => typeof given === "string" && given.toLowerCase() === address;
  return Object.entries(people).find(([, addresses]) => addresses.some(isTheirs))?.[0] ?? null;
}

/** Who speaks where in this process. The host says so when it makes a turn's tools, before it asks for a context. */
export class Speakers {
  #current = new Map();
  #parents = new Map();

  /** From a turn's tools: whoever speaks now. */
  note({ sessionKey, senderIsOwner, requesterSenderId, messageChannel }) {
    if (!sessionKey || typeof senderIsOwner !== "boolean") return;
    const speaker = { isOwner: senderIsOwner, id: requesterSenderId, channel: messageChannel };
    remember(this.#current, sessionKey, speaker);
  }

  /** A turn is over: who speaks next is not known yet. */
  forget(sessionKey) {
    this.#current.delete(sessionKey);
  }

  noteParent(childKey, parentKey) {
    const parent = { conversation: conversationOf(parentKey), speaker: this.#current.get(parentKey) ?? null };
    remember(this.#parents, childKey, this.#parents.get(parentKey) ?? parent);
  }

  /** A conversation and its speaker. A subagent works for whoever speaks in the session that started it. */
  at(sessionKey) {
    const own = { conversation: conversationOf(sessionKey), speaker: this.#current.get(sessionKey) ?? null };
    return own.conversation.kind === "subagent" ? (this.#parents.get(sessionKey) ?? own) : own;
  }
}
