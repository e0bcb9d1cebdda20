/**
 * Clew as the memory and the context engine of an OpenClaw agent.
 *
 * The plugin only connects: a daemon (`clew up`) keeps and finds everything, over its socket. Without one
 * the agent goes on with what the host has. Every call has a deadline, since the host sets none. `messages.mjs`
 * builds everything that leaves this process field by field, and never sends the host's own objects.
 *
 * There is no build and nothing to install: these are plain modules on Node's own library.
 */
import { join } from "node:path";

import { remember } from "./bounded.mjs";
import { commandLine } from "./commands.mjs";
import { Engine } from "./engine.mjs";
import { dataFolder, linkTo } from "./link.mjs";
import { getTool, memoryCapability, searchTool } from "./memory.mjs";
import { hintFields } from "./messages.mjs";
import { personOf, speakerAmong } from "./scope.mjs";

const ID = "clew";
const HINT_DEADLINE_MS = 1000;
const COMPLAINT_MS = 60_000;

export default {
  id: ID,
  name: "Clew",
  description: "Continuity and memory from a local Clew daemon.",
  register(api) {
    const plugin = new Plugin(api.pluginConfig ?? {}, api.logger ?? console);
    api.registerContextEngine(ID, () => new Engine(plugin));
    api.registerMemoryCapability(memoryCapability(plugin));
    api.registerTool((context) => searchTool(plugin, context), { names: ["memory_search"] });
    api.registerTool((context) => getTool(plugin, context), { names: ["memory_get"] });
    for (const hook of ["before_reset", "session_end", "gateway_stop"]) {
      api.on(hook, (event, context) => plugin.hint(hook, { ...event, ...context }));
    }
    api.registerCli(({ program, config }) => commandLine(plugin, program, config), {
      descriptors: [{ name: ID, description: "Look at the memory that Clew keeps", hasSubcommands: true }],
    });
  },
};

/** The settings of one registration, and the link it shares with all others that use the same socket. */
class Plugin {
  constructor(config, logger) {
    this.user = config.user || "";
    this.people = config.people ?? {};
    this.socket = config.socket || `unix:${join(dataFolder(), "clew.sock")}`;
    this.logger = logger;
  }

  get link() {
    return linkTo(this.socket);
  }

  call(method, params, options) {
    return this.link.call(method, params, options);
  }

  /** The owner of the memory at the command line: the configured person, else the agent. */
  ownerOf(agentId) {
    return this.user || agentId || "main";
  }

  /** The owner of the memory that a session reads now; null where there is none. Where the host does not name the
   * speaker, the earlier ones count. */
  readerIn(sessionKey, messages = []) {
    const { conversation, speaker } = this.link.speakers.at(sessionKey);
    return personOf(this, conversation, speaker ?? speakerAmong(messages));
  }

  /** Logs a failure once a minute for each reason, with the number of failures in between. */
  complain(what, error) {
    const reason = `${what}: ${error?.message ?? error}`;
    const known = this.link.complaints.get(reason) ?? { at: -Infinity, unsaid: 0 };
    if (performance.now() - known.at < COMPLAINT_MS) {
      known.unsaid += 1;
      return;
    }
    this.logger.warn(`clew: ${reason}${known.unsaid ? ` (and ${known.unsaid} times before)` : ""}`);
    remember(this.link.complaints, reason, { at: performance.now(), unsaid: 0 });
  }

  /** Tells the daemon that a session is reset or over. Nothing depends on its success. */
  async hint(hook, about) {
    try {
      const options = { deadlineMs: HINT_DEADLINE_MS };
      await this.call("session_lifecycle_hint", { hook, ...hintFields(about) }, options);
    } catch (error) {
      this.complain(`the journal has no note of ${hook}`, error);
    }
  }
}
