/** Talks to the daemon: JSON-RPC 2.0 over its socket, one object a line. */
import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import { homedir } from "node:os";
import { join, resolve } from "node:path";

import { Speakers } from "./scope.mjs";

const BACKOFF_MS = { first: 500, ceiling: 15_000 };
const EAGER_MS = 1000;
const CALLS_UNDER_WAY = 64;
const UNSENT_BYTES = 8 * 1024 * 1024;
const ANSWER_BYTES = 32 * 1024 * 1024;

const links = new Map();

/** The one link of this process to a daemon, however often the plugin is registered. */
export function linkTo(address) {
  if (!links.has(address)) links.set(address, new Link(address));
  return links.get(address);
}

/**
 * One connection to one daemon, made when it is needed and made again when it is lost.
 *
 * Where no daemon answers, or it is silent for a whole deadline, calls fail at once for a while, which doubles up to a
 * ceiling: an agent without its daemon is as fast as one without memory. Only the deadline of a call that somebody
 * waits for keeps the host alive.
 */
class Link {
  sessions = new Map();
  speakers = new Speakers();
  complaints = new Map();
  #address;
  #socket = null;
  #ready = null;
  #waiting = new Map();
  #lastId = 0;
  #line = [];
  #lineBytes = 0;
  #heardAt = 0;
  #failures = 0;
  #restUntil = 0;
  #reason = "";

  constructor(address) {
    this.#address = address;
  }

  /** The answer to one request. Rejects with the daemon's error (it has a `code`), or with the reason for no answer.
   * An `eager` call also tries during a rest, for a short while: the host asks again only before its next turn. */
  call(method, params, { deadlineMs, signal, background = false, eager = false }) {
    const isResting = performance.now() < this.#restUntil;
    if (isResting && !eager) return Promise.reject(new Error(this.#reason));
    if (signal?.aborted) return Promise.reject(new Error("the host gave the call up"));
    if (this.#waiting.size >= CALLS_UNDER_WAY || (this.#socket?.writableLength ?? 0) > UNSENT_BYTES) {
      return Promise.reject(new Error("too many calls are under way"));
    }
    const limitMs = isResting ? Math.min(deadlineMs, EAGER_MS) : deadlineMs;
    return this.#started((this.#lastId += 1), { method, params, deadlineMs: limitMs, signal, background });
  }

  #started(id, { method, params, deadlineMs, signal, background }) {
    return new Promise((succeed, fail) => {
      const startedAt = performance.now();
      const end = (settle) => (value) => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", giveUp);
        this.#waiting.delete(id);
        settle(value);
      };
      const call = { succeed: end(succeed), fail: end(fail) };
      const giveUp = () => call.fail(new Error("the host gave the call up"));
      const timer = setTimeout(() => {
        const error = new Error(`the daemon did not answer ${method} within its deadline`);
        if (this.#heardAt < startedAt) this.#rest(error);
        call.fail(error);
      }, deadlineMs);
      if (background) timer.unref();
      signal?.addEventListener("abort", giveUp);
      this.#waiting.set(id, call);
      this.#connected().then(
        (socket) => this.#waiting.has(id) && socket.write(frame(id, method, params)),
        (error) => call.fail(error),
      );
    });
  }

  #connected() {
    this.#ready ??= this.#connect();
    return this.#ready;
  }

  #connect() {
    return new Promise((succeed, fail) => {
      const socket = connect(addressOf(this.#address));
      let reason = new Error(`the daemon at ${this.#address} hung up`);
      let isReady = false;
      this.#socket = socket;
      socket.unref();
      socket.on("connect", () =>
        this.#signIn(socket).then(
          () => {
            isReady = true;
            succeed(socket);
          },
          (error) => socket.destroy(error),
        ),
      );
      socket.on("data", (chunk) => this.#read(socket, chunk));
      socket.on("error", (error) => {
        reason = unreachable(this.#address, error);
      });
      socket.on("close", () => {
        this.#forget();
        if (!isReady) this.#rest(reason);
        fail(reason);
        for (const call of [...this.#waiting.values()]) call.fail(reason);
      });
    });
  }

  /** On TCP, which every user of the machine can reach, the daemon asks for a token that only this user can read. */
  async #signIn(socket) {
    if (!this.#address.startsWith("tcp:")) return;
    const token = process.env.CLEW_TOKEN || (await readFile(join(dataFolder(), "token"), "utf8")).trim();
    await new Promise((succeed, fail) => {
      this.#waiting.set(0, { succeed, fail });
      socket.write(frame(0, "authenticate", { token }));
    }).finally(() => this.#waiting.delete(0));
  }

  #read(socket, chunk) {
    this.#heardAt = performance.now();
    this.#failures = 0;
    this.#restUntil = 0;
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      this.#take(Buffer.concat([...this.#line, chunk.subarray(start, end)]).toString());
      this.#line = [];
      this.#lineBytes = 0;
      start = end + 1;
    }
    this.#line.push(chunk.subarray(start));
    this.#lineBytes += chunk.length - start;
    if (this.#lineBytes > ANSWER_BYTES) socket.destroy(new Error("an answer was too long"));
  }

  /** Hands an answer to its call. Drops answers that nobody waits for, or that it cannot read. */
  #take(line) {
    let answer;
    try {
      answer = JSON.parse(line);
    } catch {
      return;
    }
    const call = this.#waiting.get(answer?.id);
    if (!call) return;
    if (answer.error) call.fail(Object.assign(new Error(answer.error.message), { code: answer.error.code }));
    else call.succeed(answer.result);
  }

  #rest(error) {
    this.#reason = error.message;
    this.#restUntil = performance.now() + Math.min(BACKOFF_MS.first * 2 ** this.#failures, BACKOFF_MS.ceiling);
    this.#failures += 1;
    if (this.#socket?.connecting) this.#socket.destroy(error);
  }

  #forget() {
    this.#socket = null;
    this.#ready = null;
    this.#line = [];
    this.#lineBytes = 0;
  }
}

function frame(id, method, params) {
  return `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`;
}

function addressOf(text) {
  const tcp = /^tcp:(127\.0\.0\.1|localhost|\[::1\]):(\d{1,5})$/.exec(text);
  if (tcp) return { host: tcp[1].replace(/[[\]]/g, ""), port: Number(tcp[2]) };
  if (text.startsWith("tcp:")) throw new Error(`tcp is for this machine alone, as tcp:127.0.0.1:PORT, not ${text}`);
  return { path: resolve(text.replace(/^unix:/, "").replace(/^~(?=\/)/, homedir())) };
}

function unreachable(address, error) {
  const why = typeof error.code === "string" && error.syscall ? error.code : error.message;
  return new Error(`no daemon answers at ${address} (${why})`);
}

export function dataFolder() {
  return process.env.CLEW_HOME || join(process.env.XDG_DATA_HOME || join(homedir(), ".local", "share"), "clew");
}
