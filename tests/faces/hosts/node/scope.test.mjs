import assert from "node:assert/strict";
import { after, test } from "node:test";

import { ask, assistant, daemon, loaded, user } from "./harness.mjs";

const running = await daemon({ after });
const PEOPLE = { grace: ["telegram:333", "signal:+4930"] };
const SECRET = "My safe combination is 11-22-33.";
const QUESTION = "What is the safe combination?";
let agents = 0;

const OWNER = { senderIsOwner: true, senderId: "111", transport: { channel: "telegram" } };
const STRANGER = { senderIsOwner: false, senderId: "222", transport: { channel: "telegram" } };
const GRACE = { senderIsOwner: false, senderId: "333", transport: { channel: "telegram" } };

/** An agent that no other test has, and ways to speak to it. */
function place() {
  agents += 1;
  const agent = `ada${agents}`;
  const host = loaded({ socket: running.endpoint, people: PEOPLE });
  const about = (rest) => ({ sessionId: `${agent}/${rest}`, sessionKey: `agent:${agent}:${rest}` });
  const tools = (rest, sender) => {
    const { sessionId, sessionKey } = about(rest);
    const context = { sessionId, sessionKey, agentId: agent };
    if (sender) {
      const { senderIsOwner, senderId: requesterSenderId, transport } = sender;
      Object.assign(context, { senderIsOwner, requesterSenderId, messageChannel: transport.channel });
    }
    return host.tool("memory_search", context);
  };
  const say = (rest, text, sender) => {
    const messages = [user(text, sender ? { __openclaw: sender } : {}), assistant("Noted.")];
    return host.engine().commitTurn({ ...about(rest), messages });
  };
  return { agent, engine: host.engine(), about, tools, say };
}

/** What a speaker is shown: by the context, and by the search tool of the same turn. */
async function shown({ engine, about, tools }, rest, sender, messages = []) {
  const tool = tools(rest, sender);
  const context = await engine.assemble({ ...about(rest), messages, prompt: QUESTION, tokenBudget: 4000 });
  const { details } = await tool.execute("call", { query: "safe combination" });
  return [JSON.stringify(context.messages), JSON.stringify(details.results)].map((text) => text.includes("11-22-33"));
}

test("what the owner said is for the owner, wherever the owner speaks alone", async () => {
  const at = place();
  await at.say("telegram:direct:111", SECRET, OWNER);
  for (const rest of ["telegram:direct:111", "main", "dashboard:5", "whatsapp:default:direct:111", "direct:ada"]) {
    assert.deepEqual(await shown(at, rest, OWNER), [true, true], rest);
  }
});

test("what the owner said is for nobody else: strangers, groups with or without the owner, hooks", async () => {
  const at = place();
  await at.say("telegram:direct:111", SECRET, OWNER);
  await at.say("dashboard:5", SECRET, OWNER);
  const others = [
    ["telegram:direct:222", STRANGER],
    ["telegram:default:direct:222", STRANGER],
    ["main", STRANGER],
    ["telegram:group:-5", OWNER],
    ["telegram:group:-5", STRANGER],
    ["discord:channel:7:thread:8", OWNER],
    ["slack:default:channel:c1", OWNER],
    ["hook:gmail:1", null],
    ["telegram:direct:222", null],
  ];
  for (const [rest, sender] of others) {
    assert.deepEqual(await shown(at, rest, sender), [false, false], `${rest} ${JSON.stringify(sender)}`);
  }
});

test("what a stranger or a group said is not the owner's, nor are the answers", async () => {
  const at = place();
  await at.say("telegram:direct:222", SECRET, STRANGER);
  await at.say("telegram:group:-5", SECRET, OWNER);
  await at.say("main", SECRET, STRANGER);
  const { collections } = await ask(running.endpoint, "collections");
  const kinds = ["turns", "replies", "user"].map((kind) => `${kind}:${at.agent}`);
  assert.deepEqual(collections.filter(({ name }) => kinds.includes(name)), []);
  assert.deepEqual(await shown(at, "telegram:direct:111", OWNER), [false, false]);
  assert.deepEqual(await shown(at, "telegram:direct:222", STRANGER), [true, true], "a session is for those in it");
});

test("a person of the settings has one memory on all channels, apart from the owner's", async () => {
  const at = place();
  await at.say("telegram:direct:333", SECRET, GRACE);
  const onSignal = { ...GRACE, senderId: "+4930", transport: { channel: "signal" } };
  assert.deepEqual(await shown(at, "signal:direct:+4930", onSignal), [true, true]);
  assert.deepEqual(await shown(at, "signal:direct:+4930", null), [true, true], "a direct chat names its person");
  assert.deepEqual(await shown(at, "telegram:direct:111", OWNER), [false, false]);
  assert.deepEqual(await shown(at, "telegram:group:-5", GRACE), [false, false]);
});

test("each agent has a memory of its own", async () => {
  const [one, other] = [place(), place()];
  await one.say("main", SECRET, OWNER);
  assert.deepEqual(await shown(other, "main", OWNER), [false, false]);
});

test("where the host does not say who speaks, those who spoke before do", async () => {
  const at = place();
  await at.say("main", SECRET, OWNER);
  const said = (sender) => [user("Hello.", { __openclaw: sender }), assistant("Hello.")];
  const context = async (rest, messages) => {
    const view = await at.engine.assemble({ ...at.about(rest), messages, prompt: QUESTION, tokenBudget: 4000 });
    return JSON.stringify(view.messages).includes("11-22-33");
  };
  assert.equal(await context("telegram:direct:111", said(OWNER)), true);
  assert.equal(await context("telegram:direct:222", said(STRANGER)), false);
  assert.equal(await context("telegram:direct:111", []), false);
  assert.equal(await context("dashboard:1", []), true);
  assert.equal(await context("dashboard:2", [...said(STRANGER), ...said(OWNER)]), false);
});

test("who spoke in the last turn is no proof of who speaks in the next", async () => {
  const at = place();
  await at.say("main", SECRET, OWNER);
  assert.deepEqual(await shown(at, "telegram:direct:111", OWNER), [true, true]);
  await at.say("telegram:direct:111", "Thank you.", OWNER);
  const view = await at.engine.assemble({ ...at.about("telegram:direct:111"), messages: [], prompt: QUESTION });
  assert.ok(!JSON.stringify(view.messages).includes("11-22-33"));
});

test("a subagent sees what the one may see who speaks in the session that started it", async () => {
  const at = place();
  await at.say("main", SECRET, OWNER);
  const spawned = async (rest, sender, number) => {
    at.tools(rest, sender);
    const childSessionKey = at.about(`subagent:${number}`).sessionKey;
    await at.engine.prepareSubagentSpawn({ parentSessionKey: at.about(rest).sessionKey, childSessionKey });
    return await shown(at, `subagent:${number}`, { ...OWNER, senderIsOwner: true });
  };
  assert.deepEqual(await spawned("main", OWNER, 1), [true, true]);
  assert.deepEqual(await spawned("telegram:direct:222", STRANGER, 2), [false, false]);
  assert.deepEqual(await spawned("telegram:group:-5", OWNER, 3), [false, false]);
  assert.deepEqual(await shown(at, "subagent:unknown", OWNER), [false, false]);
});
