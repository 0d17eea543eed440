import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const BIN = fileURLToPath(new URL("../../bin/fanal.js", import.meta.url));
/** Often enough for the figures, seldom enough not to take the program's time. */
const POLL_MS = 10;

interface ChainHead {
  finalized_slot: unknown;
}

/** The program as `npm start` starts it, but on any free port and a directory of its own. */
export class StartedProgram {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly #url: Promise<string>;
  readonly #kill = () => this.#child.kill("SIGTERM");

  static dev(directory: string): StartedProgram {
    return new StartedProgram(["dev", "--rpc", "--rpc-port", "0", "--data-dir", directory]);
  }

  private constructor(args: string[]) {
    this.#child = spawn(process.execPath, [BIN, ...args], { stdio: ["ignore", "pipe", "inherit"] });
    this.#exited = once(this.#child, "exit");
    process.once("exit", this.#kill);
    this.#url = this.#announcedUrl();
  }

  /** Asks until the answer is as wanted. */
  async chainHeadWhere(isWanted: (head: ChainHead) => boolean): Promise<void> {
    const url = await this.#url;
    while (!isWanted(await getChainHead(url))) await setTimeout(POLL_MS);
  }

  async stop(): Promise<void> {
    this.#kill();
    await this.#exited;
    process.off("exit", this.#kill);
  }

  async #announcedUrl(): Promise<string> {
    const output = this.#child.stdout;
    if (output === null) throw new Error("The program was started without a pipe for its output.");
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const lines: string[] = [];
    createInterface({ input: output })
      .on("line", (line) => {
        lines.push(line);
        const url = line.match(/JSON-RPC is served at (http:\S+)/)?.[1];
        if (url !== undefined) resolve(url);
      })
      .on("close", () => reject(new Error(`The program ended before it served JSON-RPC:\n${lines.join("\n")}`)));
    return promise;
  }
}

async function getChainHead(url: string): Promise<ChainHead> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getChainHead", params: [] }),
  });
  const { result, error } = (await response.json()) as { result?: ChainHead; error?: unknown };
  if (!result) throw new Error(`getChainHead was not answered: ${JSON.stringify(error)}`);
  return result;
}
