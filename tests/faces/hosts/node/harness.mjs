/** What the tests of the plugin share: a real daemon, a host's `api` that records, and peers that misbehave. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import plugin from "../../../../src/clew/faces/hosts/openclaw/index.mjs";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const PYTHON = process.env.CLEW_PYTHON ?? join(ROOT, ".venv/bin/python");

/** A folder whose path leaves room for a socket's name. */
export async function folder(context) {
  const path = await mkdtemp(join(tmpdir(), "clew-"));
  context.after(() => rm(path, { recursive: true, force: true, maxRetries: 10 }));
  return path;
}

/** A daemon that has printed its endpoint, and has done everything once: deadlines are for one that runs. */
export async function daemon(context, { data, token = "", ...settings } = {}) {
  const path = data ?? (await folder(context));
  const given = { embedder: "hashing", synchronous: "normal", ...settings };
  const variables = Object.entries(given).map(([name, value]) => [`CLEW_${name.toUpperCase()}`, String(value)]);
  const child = spawn(PYTHON, ["-m", "clew.faces.cli.main", "up", "--foreground", "--data", path], {
    cwd: ROOT,
    env: { ...process.env, PYTHONPATH: join(ROOT, "src"), CLEW_TOKEN: token, ...Object.fromEntries(variables) },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const ended = once(child, "exit");
  const stop = async () => {
    child.kill();
    await ended;
  };
  context.after(stop);
  const [endpoint] = await once(createInterface(child.stdout), "line");
  if (endpoint.startsWith("unix:")) {
    await ask(endpoint, "ingest", { sessionId: "first", message: { role: "user", text: "Hello." } });
    await ask(endpoint, "assemble", { sessionId: "first", query: "Hello." });
  }
  return { endpoint, data: path, stop, pause: () => child.kill("SIGSTOP"), resume: () => child.kill("SIGCONT") };
}

/** The plugin as a host loads it, with everything it registered. */
export function loaded(config = {}) {
  const host = { engines: {}, tools: {}, hooks: {}, warnings: [], cli: null, memory: null };
  plugin.register({
    pluginConfig: config,
    config: { models: { providers: { fake: { apiKey: "sk-host-secret" } } } },
    logger: { warn: (line) => host.warnings.push(line), debug() {}, info() {} },
    registerContextEngine: (id, factory) => (host.engines[id] = factory),
    registerMemoryCapability: (capability) => (host.memory = capability),
    registerTool: (factory, { names }) => (host.tools[names[0]] = factory),
    on: (hook, handler) => (host.hooks[hook] = handler),
    registerCli: (registrar) => (host.cli = registrar),
  });
  host.engine = () => host.engines.clew({});
  host.tool = (name, context) => host.tools[name](context);
  return host;
}

/** One request, beside the plugin. */
export async function ask(endpoint, method, params = {}) {
  const socket = connect(endpoint.replace(/^unix:/, ""));
  socket.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })}\n`);
  const [line] = await once(createInterface(socket), "line");
  socket.destroy();
  const { result, error } = JSON.parse(line);
  if (error) throw new Error(error.message);
  return result;
}

/** A socket that takes everything and answers nothing. */
export async function silentPeer(context) {
  return await server(context, () => {});
}

/** A socket before a daemon that writes down what passes. */
export async function recordingPeer(context, endpoint) {
  const sent = [];
  const peer = await server(context, (client) => {
    const upstream = connect(endpoint.replace(/^unix:/, ""));
    createInterface(client).on("line", (line) => sent.push(line));
    client.pipe(upstream).pipe(client);
    upstream.on("error", () => client.destroy());
  });
  const requests = () => sent.map((line) => JSON.parse(line));
  return { endpoint: peer, sent, requests, of: (method) => requests().filter((request) => request.method === method) };
}

async function server(context, serve) {
  const path = join(await folder(context), "s");
  const clients = new Set();
  const listener = createServer((client) => {
    clients.add(client);
    client.on("error", () => {});
    serve(client);
  });
  listener.listen(path);
  await once(listener, "listening");
  context.after(() => {
    for (const client of clients) client.destroy();
    listener.close();
  });
  return `unix:${path}`;
}

let clock = Date.UTC(2026, 10, 1);

/** A message of the user as the host writes it; every one has a time of its own. */
export function user(text, more = {}) {
  return { role: "user", content: text, timestamp: (clock += 1000), ...more };
}

export function assistant(...content) {
  const blocks = content.map((block) => (typeof block === "string" ? { type: "text", text: block } : block));
  return { role: "assistant", content: blocks, timestamp: (clock += 1000), model: "fake", usage: { input: 1 } };
}

export function toolCall(id, name, given) {
  return { type: "toolCall", id, name, arguments: given };
}

export function toolResult(toolCallId, toolName, text, more = {}) {
  const content = [{ type: "text", text }];
  return { role: "toolResult", toolCallId, toolName, content, isError: false, timestamp: (clock += 1000), ...more };
}

/** Runs an attempt again until it holds: for what happens in another process, in its own time. */
export async function eventually(attempt) {
  for (;;) {
    const value = await attempt();
    if (value) return value;
    await new Promise((resume) => setTimeout(resume, 20)); // leaves the processor to the other process
  }
}
