import assert from "node:assert/strict";
import { test } from "node:test";

import { ask, assistant, daemon, eventually, folder, loaded, recordingPeer, silentPeer, user } from "./harness.mjs";

const KEY = "agent:ada:main";
const turn = (text) => [user(text), assistant(`You said: ${text}`)];

test("without a daemon the agent goes on: its own messages, no error, and one word about it", async (context) => {
  const host = loaded({ socket: `unix:${await folder(context)}/none.sock` });
  const engine = host.engine();
  const messages = turn("Hello.");
  for (let count = 0; count < 3; count += 1) {
    const answer = await engine.assemble({ sessionId: "s1", sessionKey: KEY, messages, prompt: "Hi?" });
    assert.deepEqual(answer.messages, messages);
    assert.ok(answer.estimatedTokens > 0);
  }
  assert.equal((await engine.bootstrap({ sessionId: "s1" })).bootstrapped, false);
  const compacted = await engine.compact({ sessionId: "s1", sessionKey: KEY });
  assert.deepEqual([compacted.ok, compacted.compacted], [true, false]);
  assert.match(compacted.reason, /^nothing to compact: no daemon/, "any other beginning fails the host's turn");
  assert.equal((await engine.maintain({ sessionId: "s1" })).changed, false);
  await engine.afterTurn({ sessionId: "s1", sessionKey: KEY, messages, prePromptMessageCount: 0 });
  await engine.onSubagentEnded({ childSessionKey: KEY, reason: "completed" });
  await host.hooks.session_end({ sessionId: "s1", messageCount: 2 }, {});
  await engine.dispose();
  assert.equal(host.warnings.filter((line) => line.includes("without memory")).length, 1);
  assert.match(host.warnings[0], /no daemon answers at unix:.*none\.sock \(ENOENT\)/);
});

test("a turn that cannot be stored is given back to the host, which keeps it", async (context) => {
  const engine = loaded({ socket: `unix:${await folder(context)}/none.sock` }).engine();
  await assert.rejects(engine.commitTurn({ sessionId: "s1", sessionKey: KEY, messages: turn("Hello.") }), /no daemon/);
});

test("over its budget, the host's history is cut before a user's message", async (context) => {
  const engine = loaded({ socket: `unix:${await folder(context)}/none.sock` }).engine();
  const messages = Array.from({ length: 20 }, (_, number) => turn(`${number} ${"word ".repeat(100)}`)).flat();
  const view = await engine.assemble({ sessionId: "s1", sessionKey: KEY, messages, prompt: "Hi?", tokenBudget: 1000 });
  assert.ok(view.messages.length > 0 && view.messages.length < messages.length);
  assert.equal(view.messages[0].role, "user");
  assert.deepEqual(view.messages, messages.slice(-view.messages.length));
  assert.ok(view.estimatedTokens <= 1000);
});

test("a daemon that hangs costs a deadline and then nothing", async (context) => {
  const host = loaded({ socket: await silentPeer(context) });
  const engine = host.engine();
  const messages = turn("Hello.");
  const request = { sessionId: "s1", sessionKey: KEY, messages, prompt: "Hi?", tokenBudget: 4000 };
  assert.deepEqual((await engine.assemble(request)).messages, messages);
  assert.match((await engine.bootstrap({ sessionId: "s1" })).reason, /did not answer assemble/);
  assert.match(host.warnings.join("\n"), /did not answer assemble within its deadline/);
});

test("every method comes back from a daemon that never answers", async (context) => {
  const fresh = async () => loaded({ socket: await silentPeer(context) });
  const messages = turn("Hello.");
  const cancel = new AbortController();
  const compacting = (await fresh()).engine().compact({ sessionId: "s1", sessionKey: KEY, abortSignal: cancel.signal });
  const [bootstrap, commit, hint, after] = await Promise.all([
    (await fresh()).engine().bootstrap({ sessionId: "s1" }),
    (await fresh()).engine().commitTurn({ sessionId: "s1", messages }).catch((error) => error),
    (await fresh()).hooks.before_reset({ reason: "new" }, { sessionId: "s1" }),
    (await fresh()).engine().afterTurn({ sessionId: "s1", messages, prePromptMessageCount: 0 }),
  ]);
  assert.equal(bootstrap.bootstrapped, false);
  assert.match(commit.message, /did not answer ingest_batch/);
  assert.deepEqual([hint, after], [undefined, undefined]);
  cancel.abort();
  assert.deepEqual(await compacting, { ok: false, compacted: false, reason: "the host gave the call up" });
});

test("a daemon that was stopped and started again is found again, and nothing owed is lost", async (context) => {
  const first = await daemon(context);
  const engine = loaded({ socket: first.endpoint }).engine();
  const about = { sessionId: "s1", sessionKey: KEY };
  const turns = ["One.", "Two.", "Three."].map(turn);
  await engine.commitTurn({ ...about, messages: turns[0] });
  await first.stop();
  await assert.rejects(engine.commitTurn({ ...about, messages: turns[1] }));
  await engine.afterTurn({ ...about, messages: turns[1], prePromptMessageCount: 0 });
  const second = await daemon(context, { data: first.data });
  await eventually(() => engine.commitTurn({ ...about, messages: turns[2] }).catch(() => null));
  await engine.afterTurn({ ...about, messages: turns[2], prePromptMessageCount: 0 });
  const { records } = await ask(second.endpoint, "list", { collection: "session_raw:s1" });
  const said = records.filter(({ role }) => role === "user").map(({ text }) => text);
  assert.deepEqual(said.sort(), ["One.", "Three.", "Two."]);
});

test("what is owed is kept while its session is used, up to a few megabytes", async (context) => {
  const first = await daemon(context);
  const engine = loaded({ socket: first.endpoint }).engine();
  const about = { sessionId: "s1", sessionKey: KEY, prePromptMessageCount: 0 };
  await first.stop();
  const long = Array.from({ length: 20 }, (_, number) => user(`${number} ${"x".repeat(250_000)}`));
  await engine.afterTurn({ ...about, messages: long });
  for (let number = 0; number < 400; number += 1) {
    await engine.maintain({ sessionId: `other${number}` });
    if (number % 200 === 0) await engine.maintain(about);
  }
  const second = await daemon(context, { data: first.data });
  const stored = async () => (await ask(second.endpoint, "list", { collection: "session_raw:s1" })).records;
  await eventually(async () => {
    await engine.afterTurn({ ...about, messages: [] });
    return (await stored()).length >= 16;
  });
  const records = await stored();
  assert.deepEqual(records.map(({ ts }) => ts), long.slice(-16).map(({ timestamp }) => timestamp));
});

test("a daemon that was held up answers again when it goes on, and late answers reach nobody", async (context) => {
  const running = await daemon(context);
  const engine = loaded({ socket: running.endpoint }).engine();
  const about = { sessionId: "s1", sessionKey: KEY };
  const [one, two] = [turn("My boat is called Vela."), turn("Hello.")];
  await engine.commitTurn({ ...about, messages: one });
  running.pause();
  const request = { sessionId: "s2", sessionKey: KEY, messages: two, prompt: "What is my boat called?" };
  const held = await engine.assemble(request);
  assert.deepEqual(held.messages, two);
  running.resume();
  const view = await eventually(async () => {
    const answer = await engine.assemble(request);
    return answer.messages.length > two.length && answer;
  });
  assert.match(view.messages.at(-1).content[0].text, /Vela/);
});

test("many calls share one connection, and each gets its own answer", async (context) => {
  const running = await daemon(context);
  const peer = await recordingPeer(context, running.endpoint);
  const host = loaded({ socket: peer.endpoint });
  const sessions = Array.from({ length: 20 }, (_, number) => `s${number}`);
  const store = (sessionId) => host.engine().commitTurn({ sessionId, sessionKey: KEY, messages: turn(sessionId) });
  const outcomes = await Promise.all(sessions.map(store));
  assert.ok(outcomes.every(({ status }) => status === "committed"));
  const ids = peer.requests().map(({ id }) => id);
  assert.equal(new Set(ids).size, sessions.length, "one connection numbers its requests");
});

test("over TCP the first request shows the token, and a wrong one is said", async (context) => {
  const running = await daemon(context, { listen: "tcp:127.0.0.1:0", token: "right" });
  const before = process.env.CLEW_TOKEN;
  context.after(() => {
    if (before === undefined) delete process.env.CLEW_TOKEN;
    else process.env.CLEW_TOKEN = before;
  });
  process.env.CLEW_TOKEN = "wrong";
  const refused = await loaded({ socket: running.endpoint }).engine().bootstrap({ sessionId: "s1" });
  assert.match(refused.reason, /token is not the one/);
  process.env.CLEW_TOKEN = "right";
  const other = running.endpoint.replace("127.0.0.1", "localhost");
  assert.equal((await loaded({ socket: other }).engine().bootstrap({ sessionId: "s1" })).bootstrapped, true);
});

test("an address of another machine is refused", async () => {
  const outcome = await loaded({ socket: "tcp:192.0.2.1:80" }).engine().bootstrap({ sessionId: "s1" });
  assert.match(outcome.reason, /for this machine alone/);
});

test("registering many times connects to nothing", () => {
  const before = process.getActiveResourcesInfo().sort();
  for (let count = 0; count < 5; count += 1) loaded({ socket: "unix:/nowhere/clew.sock" });
  assert.deepEqual(process.getActiveResourcesInfo().sort(), before);
});
