/** Decides who speaks in a conversation, and whose memory it may see. The host knows who is there; Clew obeys it.
 *
 * A session's key tells the kind of conversation, and the host marks a message with its sender. The memory of a person
 * is for that person alone: groups, strangers and outside hooks get their session, and what all share.
 */
import { remember } from "./bounded.mjs";

const DIRECT = new Set(["direct", "dm"]);
const GROUP = new Set(["group", "channel", "room", "space"]);

/** The parts of a session's key: its agent, the kind of conversation, and for a direct one the other side. */
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

/** Whether Clew must keep nothing of a session: of the host's own working copies, and of incognito sessions. */
export function isHidden(sessionKey) {
  return conversationOf(sessionKey).kind === "hidden";
}

/** The sender of a message, as the host marks it; null where it names none. */
export function senderOf({ __openclaw: host }) {
  if (typeof host?.senderIsOwner !== "boolean") return null;
  return { isOwner: host.senderIsOwner, id: host.senderId, channel: host.transport?.channel };
}

/** The one sender who counts for all messages: a stranger among them, else the last known one. */
export function speakerAmong(messages) {
  const senders = messages.filter(({ role }) => role === "user").map(senderOf).filter(Boolean);
  return senders.find(({ isOwner }) => !isOwner) ?? senders.at(-1) ?? null;
}

/** The owner of the memory that a conversation reads and adds to; null where there is none. */
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

/** The speakers of the sessions in this process. The host names them with a turn's tools, before a context. */
export class Speakers {
  #current = new Map();
  #parents = new Map();

  /** Notes the speaker that a turn's tools name. */
  note({ sessionKey, senderIsOwner, requesterSenderId, messageChannel }) {
    if (!sessionKey || typeof senderIsOwner !== "boolean") return;
    const speaker = { isOwner: senderIsOwner, id: requesterSenderId, channel: messageChannel };
    remember(this.#current, sessionKey, speaker);
  }

  /** Forgets the speaker at the end of a turn, because the next one is not known yet. */
  forget(sessionKey) {
    this.#current.delete(sessionKey);
  }

  noteParent(childKey, parentKey) {
    const parent = { conversation: conversationOf(parentKey), speaker: this.#current.get(parentKey) ?? null };
    remember(this.#parents, childKey, this.#parents.get(parentKey) ?? parent);
  }

  /** A conversation and its speaker. A subagent works for the speaker of the session that started it. */
  at(sessionKey) {
    const own = { conversation: conversationOf(sessionKey), speaker: this.#current.get(sessionKey) ?? null };
    return own.conversation.kind === "subagent" ? (this.#parents.get(sessionKey) ?? own) : own;
  }
}
