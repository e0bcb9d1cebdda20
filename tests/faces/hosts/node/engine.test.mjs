import assert from "node:assert/strict";
import { after, test } from "node:test";

import {
  ask,
  assistant,
  daemon,
  eventually,
  loaded,
  recordingPeer,
  toolCall,
  toolResult,
  user,
} from "./harness.mjs";

const running = await daemon({ after });
let places = 0;

/** An agent and a session that no other test has, with the plugin on the daemon of this file. */
function place(config = {}) {
  places += 1;
  const agent = `ada${places}`;
  const host = loaded({ socket: running.endpoint, ...config });
  return { agent, key: `agent:${agent}:main`, sid: `s${places}`, host, engine: host.engine() };
}

async function raw(sessionId) {
  return (await ask(running.endpoint, "list", { collection: `session_raw:${sessionId}` })).records;
}

async function names(...wanted) {
  const { collections } = await ask(running.endpoint, "collections");
  return collections.map(({ name }) => name).filter((name) => wanted.includes(name)).sort();
}

function turn(question, answer) {
  return [user(question), assistant(answer)];
}

const textsOf = (messages) => messages.map(({ content }) => (typeof content === "string" ? content : content[0].text));
const quotesOf = (messages) => textsOf(messages).filter((text) => text.startsWith("<recalled_history>"));

test("the engine declares what the host needs to use it, and asks for no more than it reads", () => {
  const { info } = place().engine;
  assert.equal(info.id, "clew");
  assert.equal(info.transcriptSemantics.currentTurnFence, "before-current-turn-entry-v1");
  assert.equal(info.transcriptSemantics.turnAdvancementIdempotency, "atomic-idempotent-v1");
  assert.equal(info.ownsCompaction, true);
  assert.equal(info.turnMaintenanceMode, "background");
  assert.deepEqual(info.acceptedHostParams, ["sessionKey", "prompt", "abortSignal"]);
});

test("a daemon that is there is found at the start", async () => {
  assert.equal((await place().engine.bootstrap({ sessionId: "s" })).bootstrapped, true);
});

test("a committed turn is stored word for word, and committing it again changes nothing", async () => {
  const { key, sid, engine, host } = place();
  const messages = [
    user("Where does the parser live?"),
    assistant({ type: "thinking", thinking: "hidden" }, toolCall("call_1", "grep", { pattern: "parser" })),
    toolResult("call_1", "grep", "src/parser.py", { isError: true }),
    assistant("In src/parser.py."),
  ];
  const commit = { advancementKey: "k1", sessionId: sid, sessionKey: key, messages };
  assert.deepEqual(await engine.commitTurn(commit), { status: "committed" });
  assert.deepEqual(await host.engine().commitTurn(commit), { status: "duplicate" });
  const stored = await raw(sid);
  assert.deepEqual(
    stored.map(({ role, text }) => [role, text]),
    [
      ["user", "Where does the parser live?"],
      ["assistant", 'grep({"pattern":"parser"})'],
      ["tool_result", "src/parser.py"],
      ["assistant", "In src/parser.py."],
    ],
  );
  assert.deepEqual(stored.map(({ ts }) => ts), messages.map(({ timestamp }) => timestamp));
  assert.deepEqual(stored[1].metadata.toolCallIds, ["call_1"]);
  assert.deepEqual(stored[2].metadata, { toolCallId: "call_1", toolName: "grep", isError: true });
});

test("equal messages of one moment are two, and the same in the host's history as in a commit", async (context) => {
  const { key, sid, engine } = place();
  const messages = [user("yes", { timestamp: 5 }), user("yes", { timestamp: 5 }), assistant("Noted.")];
  await engine.commitTurn({ sessionId: sid, sessionKey: key, messages });
  const ids = (await raw(sid)).map(({ id }) => id);
  assert.equal(ids[1], `${ids[0]}-2`);
  const peer = await recordingPeer(context, running.endpoint);
  await loaded({ socket: peer.endpoint }).engine().assemble({ sessionId: sid, sessionKey: key, messages });
  assert.deepEqual(peer.of("assemble")[0].params.messages.map(({ id }) => id), ids);
});

test("a heartbeat is not stored", async () => {
  const { sid, engine } = place();
  const messages = turn("HEARTBEAT", "HEARTBEAT_OK");
  const about = { sessionId: sid, messages, isHeartbeat: true };
  assert.deepEqual(await engine.commitTurn(about), { status: "committed" });
  await engine.afterTurn({ ...about, prePromptMessageCount: 0 });
  assert.deepEqual(await engine.ingest({ ...about, message: messages[0] }), { ingested: false });
  await engine.assemble({ sessionId: sid, messages, prompt: "Hello?" });
  assert.deepEqual(await names(`session_raw:${sid}`), []);
});

test("memory is quoted in the user's voice behind the host's own messages, never in the system's", async () => {
  const { key, sid, engine } = place();
  const told = turn("My favourite colour is teal.", "Nice.");
  await engine.commitTurn({ sessionId: `${sid}-old`, sessionKey: key, messages: told });
  const messages = turn("Good morning.", "Good morning!");
  const prompt = "Which favourite colour do I have?";
  const answer = await engine.assemble({ sessionId: sid, sessionKey: key, messages, prompt, tokenBudget: 4000 });
  assert.equal(answer.messages.length, 3);
  assert.equal(answer.messages[0], messages[0]);
  assert.equal(answer.messages[1], messages[1]);
  const quote = answer.messages[2];
  assert.equal(quote.role, "user");
  assert.match(quote.content[0].text, /^<recalled_history>[^]*favourite colour is teal[^]*<\/recalled_history>$/);
  assert.ok(!(answer.systemPromptAddition ?? "").includes("teal"));
  assert.ok(answer.estimatedTokens > 0 && answer.estimatedTokens <= 4000);
});

test("the prompt says how to use the tools, when they are there", async () => {
  const { key, sid, engine } = place();
  const request = { sessionId: sid, sessionKey: key, messages: [], prompt: "Hello" };
  const withTools = await engine.assemble({ ...request, availableTools: new Set(["memory_search", "memory_get"]) });
  assert.match(withTools.systemPromptAddition, /memory_search/);
  assert.equal((await engine.assemble({ ...request, availableTools: new Set() })).systemPromptAddition, undefined);
});

test("the host showing the engine its own view again asks the daemon only once", async (context) => {
  const { key, sid } = place();
  const peer = await recordingPeer(context, running.endpoint);
  const host = loaded({ socket: peer.endpoint });
  const told = turn("Our launch is in May.", "Good.");
  await host.engine().commitTurn({ sessionId: `${sid}-old`, sessionKey: key, messages: told });
  const request = { sessionId: sid, sessionKey: key, prompt: "When is the launch?" };
  const first = await host.engine().assemble({ ...request, messages: turn("Hi.", "Hi!"), tokenBudget: 4000 });
  const again = structuredClone(first.messages);
  const second = await host.engine().assemble({ ...request, messages: again, tokenBudget: 6000 });
  assert.deepEqual(textsOf(second.messages), textsOf(first.messages));
  assert.equal(peer.of("assemble").length, 1);
  const other = await host.engine().assemble({ ...request, prompt: "Who leads our launch in May?", messages: again });
  assert.equal(peer.of("assemble").length, 2);
  assert.equal(peer.of("assemble")[1].params.messages.length, 2, "a quote is not taken for a message");
  assert.equal(quotesOf(other.messages).length, 1);
});

test("only named fields leave the process: no settings, keys or thoughts", async (context) => {
  const { key, sid } = place();
  const peer = await recordingPeer(context, running.endpoint);
  const host = loaded({ socket: peer.endpoint });
  const engine = host.engine();
  const secret = "sk-host-secret";
  const hidden = { config: { apiKey: secret }, skillsSnapshot: secret, llm: {} };
  const withheld = { sessionFile: secret, runtimeContext: hidden, runtimeSettings: hidden };
  const about = { sessionId: sid, sessionKey: key, ...withheld };
  const messages = [
    user("Hello", { idempotencyKey: secret, __openclaw: { senderIsOwner: true, senderIdentity: secret } }),
    assistant({ type: "thinking", thinking: secret }, { type: "image", data: secret }, "Hi."),
  ];
  await engine.bootstrap(about);
  await engine.commitTurn({ ...about, advancementKey: secret, admission: { storePath: secret }, messages });
  await engine.assemble({ ...about, messages, prompt: "Hello?", model: secret, tokenBudget: 4000 });
  await engine.compact({ ...about, customInstructions: secret });
  await engine.maintain(about);
  await engine.onSubagentEnded({ childSessionKey: `${key}:subagent:1`, reason: "completed", workspaceDir: secret });
  for (const hook of ["before_reset", "session_end", "gateway_stop"]) {
    await host.hooks[hook]({ messages, sessionFile: secret, reason: "reset" }, { config: hidden, sessionId: sid });
  }
  const tool = host.tool("memory_search", { sessionKey: key, config: hidden, workspaceDir: secret });
  await tool.execute("1", { query: "Hello" });
  assert.ok(peer.sent.length >= 9);
  assert.ok(!peer.sent.join("\n").includes(secret));
  const fields = peer.of("ingest_batch")[0].params.messages.map((message) => Object.keys(message).sort());
  assert.deepEqual(fields, [
    ["id", "role", "text", "ts"],
    ["id", "role", "text", "toolCallIds", "ts"],
  ]);
});

test("what a guest or another session says in the user's role is marked as from outside", async () => {
  const { key, sid, engine } = place();
  const messages = [
    user("Mine.", { __openclaw: { senderIsOwner: true } }),
    user("A guest's.", { __openclaw: { senderIsOwner: false } }),
    user("Another session's.", { provenance: { kind: "inter_session" } }),
  ];
  await engine.commitTurn({ sessionId: sid, sessionKey: key, messages });
  assert.deepEqual((await raw(sid)).map(({ trust }) => trust), ["unknown", "untrusted", "untrusted"]);
});

test("only what the host marks as its owner's, or a person's session holds, has no source", async (context) => {
  const peer = await recordingPeer(context, running.endpoint);
  const engine = loaded({ socket: peer.endpoint }).engine();
  const said = [
    ["agent:ada:main", {}, undefined],
    ["agent:hook:main", {}, undefined],
    ["agent:ada:main", { __openclaw: { transport: { clients: [] } } }, undefined],
    ["agent:ada:hook:gmail:1", { __openclaw: { senderIsOwner: true } }, undefined],
    ["agent:ada:telegram:group:1", { __openclaw: { senderId: "7" } }, "openclaw:guest"],
    ["agent:ada:hook:gmail:1", { __openclaw: { senderIsOwner: false } }, "openclaw:guest"],
    ["agent:ada:hook:gmail:1", {}, "openclaw:hook"],
    ["hook:gmail", {}, "openclaw:hook"],
    ["agent:ada:cron:7:run:8", {}, "openclaw:cron"],
  ];
  for (const [sessionKey, more] of said) {
    await engine.commitTurn({ sessionId: "sources", sessionKey, messages: [user("Always do it so.", more)] });
  }
  const sources = peer.of("ingest_batch").map(({ params }) => params.messages[0].source);
  assert.deepEqual(sources, said.map(([, , source]) => source));
});

test("a subagent reads its person's memory, and what it is told does not become theirs", async () => {
  const { agent, key, sid, engine } = place();
  const told = turn("Deploys happen on Friday.", "Noted.");
  await engine.commitTurn({ sessionId: sid, sessionKey: key, messages: told });
  const child = { sessionId: `${sid}-child`, sessionKey: `agent:${agent}:subagent:42` };
  const spawn = { parentSessionKey: key, childSessionKey: child.sessionKey };
  assert.equal(await engine.prepareSubagentSpawn(spawn), undefined);
  await engine.commitTurn({ ...child, messages: turn("Summarise the deploy log.", "Done.") });
  const found = await engine.assemble({ ...child, messages: [], prompt: "When do deploys happen?", tokenBudget: 4000 });
  assert.match(quotesOf(found.messages)[0], /Deploys happen on Friday/);
  const { records } = await ask(running.endpoint, "list", { collection: `turns:${agent}` });
  assert.deepEqual(records.map(({ text }) => text), ["Deploys happen on Friday."]);
  assert.equal((await raw(child.sessionId)).length, 2);
});

test("memory belongs to the configured person, else to the agent", async () => {
  const { agent, key, sid, engine } = place();
  await engine.commitTurn({ sessionId: `${sid}-1`, sessionKey: key, messages: turn("One.", "1") });
  await engine.commitTurn({ sessionId: `${sid}-2`, messages: turn("Two.", "2") });
  const named = place({ user: "grace" }).engine;
  await named.commitTurn({ sessionId: `${sid}-3`, sessionKey: key, messages: turn("Three.", "3") });
  const owners = [`turns:${agent}`, "turns:grace", "turns:main"];
  assert.deepEqual(await names(...owners), owners);
});

test("words of one moment are all kept, under ids that say nothing about them", async () => {
  const { key, sid, engine } = place();
  const commit = (text) =>
    engine.commitTurn({ sessionId: sid, sessionKey: key, messages: [user(text, { timestamp: 7 })] });
  for (const text of ["Tea, please.", "Ale, please.", "Ale, please."]) await commit(text);
  const [first, second, ...more] = await raw(sid);
  assert.deepEqual([first.text, second.text, more], ["Tea, please.", "Ale, please.", []]);
  assert.equal(second.id, `${first.id}-2`);
});

test("after a compaction the context is the newest messages and what the summaries say", async () => {
  const { key, sid, engine } = place();
  const history = [];
  for (let number = 0; number < 40; number += 1) {
    const exchange = turn(`Step ${number}: we moved module ${number} to the new layout.`, `Module ${number} is moved.`);
    await engine.commitTurn({ sessionId: sid, sessionKey: key, messages: exchange });
    history.push(...exchange);
  }
  const outcome = await engine.compact({ sessionId: sid, sessionKey: key, tokenBudget: 4000, force: true });
  assert.equal(outcome.ok, true);
  assert.equal(outcome.compacted, true);
  assert.ok(outcome.result.tokensAfter < outcome.result.tokensBefore);
  const request = { sessionId: sid, sessionKey: key, messages: history, prompt: "Thanks.", tokenBudget: 8000 };
  const view = await engine.assemble(request);
  const kept = view.messages.slice(0, -1);
  assert.ok(kept.length > 0 && kept.length < history.length);
  assert.deepEqual(kept, history.slice(-kept.length));
  assert.match(quotesOf(view.messages)[0], /"summary"/);
  assert.equal((await raw(sid)).length, history.length, "the history itself is whole");
});

test("maintenance folds what has grown and never keeps the host waiting", async () => {
  const { key, sid, engine } = place();
  const exchanges = Array.from({ length: 150 }, (_, number) => turn(`Note ${number} on the garden.`, "Kept."));
  const about = { sessionId: sid, sessionKey: key };
  await engine.commitTurn({ ...about, messages: exchanges.flat() });
  await engine.assemble({ ...about, messages: exchanges.flat(), prompt: "Anything new?", tokenBudget: 2000 });
  const outcome = await engine.maintain(about);
  assert.equal(outcome.changed, false);
  const summaries = async () => (await ask(running.endpoint, "show_session", { sessionId: sid })).summaries;
  await eventually(async () => (await summaries()).length > 0);
});

test("a compaction that the host gives up, or that finds nothing to do, is an answer and not an error", async () => {
  const { key, sid, engine } = place();
  const given = await engine.compact({ sessionId: sid, sessionKey: key, abortSignal: AbortSignal.abort() });
  assert.deepEqual(given, { ok: false, compacted: false, reason: "the host gave the call up" });
  const nothing = await engine.compact({ sessionId: sid, sessionKey: key });
  assert.deepEqual([nothing.ok, nothing.compacted], [true, false]);
  assert.match(nothing.reason, /^nothing to compact/, "any other beginning fails the host's turn");
});

test("a prompt that must shrink does: what is recalled goes first, the newest turns stay", async () => {
  const { key, sid, engine } = place();
  const about = { sessionId: sid, sessionKey: key };
  const told = Array.from({ length: 60 }, (_, number) => turn(`Crane ${number} lifts ${"crates ".repeat(90)}`, "Noted."));
  await engine.commitTurn({ sessionId: `${sid}-other`, sessionKey: key, messages: told.flat() });
  const own = turn("We plan the work of the cranes.", "Gladly.");
  await engine.commitTurn({ ...about, messages: own });
  const request = { ...about, messages: own, tokenBudget: 6000 };
  const full = await engine.assemble({ ...request, prompt: "Which crane lifts crates?" });
  assert.ok(full.estimatedTokens > 2400 && full.estimatedTokens <= 6000 * 0.8);
  const currentTokenCount = full.estimatedTokens + 2000;
  const outcome = await engine.compact({ ...about, force: true, tokenBudget: 6000, currentTokenCount });
  assert.deepEqual([outcome.ok, outcome.compacted], [true, true]);
  assert.ok(outcome.result.tokensAfter <= 6000 * 0.6);
  const small = await engine.assemble({ ...request, prompt: "Which crane lifts most crates?" });
  assert.ok(small.estimatedTokens <= 6000 * 0.6 - 2000);
  assert.deepEqual(small.messages.slice(0, 2), own);
  for (let number = 0; number < 30; number += 1) await engine.commitTurn({ ...about, messages: turn("Go on.", "Yes.") });
  const eased = await engine.assemble({ ...request, prompt: "Which crane lifts few crates?" });
  assert.ok(eased.estimatedTokens > 2400, "a limit does not stay for ever");
});

test("a turn whose tools fill the window gets a smaller context, and never one over what is left", async () => {
  const { key, sid, engine } = place();
  const about = { sessionId: sid, sessionKey: key };
  const told = Array.from({ length: 60 }, (_, number) => turn(`Crane ${number} lifts ${"crates ".repeat(90)}`, "Noted."));
  await engine.commitTurn({ sessionId: `${sid}-other`, sessionKey: key, messages: told.flat() });
  const request = { ...about, messages: [], prompt: "Which crane lifts crates?" };
  const first = await engine.assemble({ ...request, tokenBudget: 6000 });
  const again = await engine.assemble({ ...request, tokenBudget: 10_000 });
  assert.deepEqual(again.messages, first.messages, "the window is larger than the budget; nothing has changed");
  const later = await engine.assemble({ ...request, tokenBudget: 7000 });
  assert.ok(later.estimatedTokens <= 3000 && later.estimatedTokens > 0);
});

test("the host's working copies and incognito sessions are neither kept nor shown a memory", async () => {
  const { agent, key, sid, engine } = place();
  await engine.commitTurn({ sessionId: sid, sessionKey: key, messages: turn("The vault opens at nine.", "Noted.") });
  for (const place of ["internal-session-effects:run-1", "dashboard:incognito-7", "subagent:incognito-8"]) {
    const about = { sessionId: `${sid}-hidden`, sessionKey: `agent:${agent}:${place}` };
    const messages = turn("When does the vault open?", "I do not know.");
    const view = await engine.assemble({ ...about, messages, prompt: "When does the vault open?", tokenBudget: 4000 });
    assert.deepEqual(view.messages, messages);
    assert.deepEqual(await engine.commitTurn({ ...about, messages }), { status: "committed" });
    await engine.afterTurn({ ...about, messages });
  }
  assert.deepEqual(await names(`session_raw:${sid}-hidden`), []);
});

test("older hosts, which deliver a turn bit by bit and again, store it once", async () => {
  const { key, sid, engine } = place();
  const earlier = turn("Earlier.", "Yes.");
  const now = [user("Now."), assistant(toolCall("c", "look", {})), toolResult("c", "look", "seen"), assistant("Done.")];
  const about = { sessionId: sid, sessionKey: key, prePromptMessageCount: 2 };
  await engine.afterTurn({ ...about, messages: [...earlier, ...now.slice(0, 1)] });
  await engine.afterTurn({ ...about, messages: [...earlier, ...now.slice(0, 3)] });
  await engine.afterTurn({ ...about, messages: [...earlier, ...now] });
  assert.deepEqual(await engine.ingestBatch({ ...about, messages: now }), { ingestedCount: 0 });
  assert.deepEqual(await engine.ingest({ ...about, message: earlier[0] }), { ingested: true });
  assert.equal((await raw(sid)).length, 5);
});

test("a turn of any size is delivered: in parts, and too long a text with a visible cut", async (context) => {
  const { key, sid } = place();
  const peer = await recordingPeer(context, running.endpoint);
  const engine = loaded({ socket: peer.endpoint }).engine();
  const texts = ["1".repeat(400_000), "é".repeat(300_000), "\u0001".repeat(200_000)];
  const messages = [user("Read all."), ...texts.map((text, number) => toolResult(`c${number}`, "read", text))];
  const commit = { sessionId: sid, sessionKey: key, messages };
  assert.deepEqual(await engine.commitTurn(commit), { status: "committed" });
  assert.ok(peer.of("ingest_batch").length > 1);
  assert.ok(peer.sent.every((line) => Buffer.byteLength(line) < 512 * 1024));
  const stored = await raw(sid);
  assert.equal(stored.length, 4);
  for (const { text } of stored.slice(1)) assert.match(text, /\[cut: \d+ more characters\]$/);
  assert.deepEqual(await engine.commitTurn(commit), { status: "duplicate" });
});

test("any text is delivered: lone surrogates, controls, other scripts", async () => {
  const { key, sid, engine } = place();
  const odd = ["\ud800 alone", "nul \u0000 here", "日本語 и العربية", "👩‍👩‍👧 family"];
  await engine.commitTurn({ sessionId: sid, sessionKey: key, messages: odd.map((text) => user(text)) });
  assert.deepEqual((await raw(sid)).map(({ text }) => text), ["\ufffd alone", ...odd.slice(1)]);
});

test("what the daemon will never take is left out and said, and the rest of the turn is stored", async () => {
  const { key, sid, engine, host } = place();
  const messages = [user("Good.", { timestamp: 1 }), user("From a far future.", { timestamp: 2 ** 52 })];
  assert.deepEqual(await engine.commitTurn({ sessionId: sid, sessionKey: key, messages }), { status: "committed" });
  assert.deepEqual((await raw(sid)).map(({ text }) => text), ["Good."]);
  assert.match(host.warnings.join("\n"), /a message cannot be stored/);
});
