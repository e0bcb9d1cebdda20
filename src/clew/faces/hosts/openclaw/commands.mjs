/** `openclaw clew ...`: a look at the memory from the host's command line. */
import { search } from "./memory.mjs";

const ID = "clew";
const DEADLINE_MS = 10_000;
const SHOWN = ["message", "version", "turnCount", "memoryCount", "recordCount", "pending", "embeddingProfile"];

export function commandLine(plugin, program, config) {
  const clew = program.command(ID).description("Look at the memory that Clew keeps for this agent");
  const ask = (method, params) => plugin.call(method, params, { deadlineMs: DEADLINE_MS });
  const print = (lines) => console.log(lines.map(printable).join("\n"));
  clew.command("status").description("What the daemon holds").action(saying(async () => {
    const status = await ask("status", {});
    print([`socket: ${plugin.socket}`, ...SHOWN.map((name) => `${name}: ${status[name]}`), ...status.degraded]);
  }));
  clew.command("search <words...>").description("Search this agent's memory")
    .option("--agent <id>", "whose memory, where no user is configured", "main")
    .action(saying(async (words, { agent }) => {
      const { results } = await search(plugin, { person: plugin.ownerOf(agent) }, { query: words.join(" ") });
      const lines = results.map(({ day, who, snippet, path }) => `${day} ${who}: ${snippet}  [${path}]`);
      print(lines.length > 0 ? lines : ["nothing was found"]);
    }));
  clew.command("journal").description("Resets and ends of sessions that the host reported").action(saying(async () => {
    const { entries } = await ask("journal", {});
    print(entries.map(({ ts, hook, sessionId }) => `${new Date(ts).toISOString()} ${hook} ${sessionId ?? ""}`));
  }));
  clew.command("doctor").description("Check the settings and the way to the daemon").action(async () => {
    const findings = await diagnose(plugin, config);
    print(findings.map(({ ok, what }) => `${ok ? "ok  " : "FIX "} ${what}`));
    process.exitCode = findings.every(({ ok }) => ok) ? 0 : 1;
  });
}

/** Runs an action; a failure gives one line and a status. */
function saying(action) {
  return async (...given) => {
    try {
      await action(...given);
    } catch (error) {
      console.error(`clew: ${printable(error.message)}`);
      process.exitCode = 1;
    }
  };
}

async function diagnose(plugin, config) {
  const slots = config?.plugins?.slots ?? {};
  const findings = ["memory", "contextEngine"].map((slot) => ({
    ok: slots[slot] === ID,
    what: `plugins.slots.${slot} is ${slots[slot] ?? "not set"}${slots[slot] === ID ? "" : `; it must be ${ID}`}`,
  }));
  try {
    const { version, degraded } = await plugin.call("status", {}, { deadlineMs: DEADLINE_MS });
    findings.push({ ok: true, what: `a daemon of version ${version} answers at ${plugin.socket}` });
    findings.push(...degraded.map((what) => ({ ok: false, what })));
  } catch (error) {
    const cure = "start one with `clew up`, or name its socket in plugins.entries.clew.config.socket";
    findings.push({ ok: false, what: `${error.message}; ${cure}` });
  }
  return findings;
}

/** Removes from text of others what could steer a terminal. */
function printable(text) {
  return String(text).replace(/[\p{Cc}\p{Cf}]+/gu, " ");
}
