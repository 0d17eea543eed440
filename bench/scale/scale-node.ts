import { join } from "node:path";
import { ProgramProcess } from "../../test/support/program/program-process.ts";
import { type ProcessUsage, usageOf } from "../support/process-usage.ts";

/** A checkout whose program is measured. */
export interface Program {
  /** Name in tables. */
  title: string;
  directory: string;
}

interface NodeFiles {
  network: string;
  stateFile: string;
  dataDir: string;
}

/** The real program on a large state, without p2p. */
export class ScaleNode extends ProgramProcess {
  restUrl = "";

  /** Starts the node and waits for its first answer. */
  static async start(program: Program, files: NodeFiles): Promise<ScaleNode> {
    const node = new ScaleNode(program, files);
    node.restUrl = (await node.untilLine(/REST is served at (http:[^\s"]+)/))[1]!;
    await node.untilServed();
    await node.call("getChainHead");
    return node;
  }

  private constructor({ title, directory }: Program, { network, stateFile, dataDir }: NodeFiles) {
    const state = ["--network", network, "--checkpoint-state", stateFile, "--data-dir", dataDir];
    const servers = ["--rpc", "--rpc-port", "0", "--rest", "--rest-port", "0"];
    // Accepts blocks no matter how far the head is behind the clock.
    const args = ["node", ...state, ...servers, "--no-p2p", "--sync-horizon", "1000000"];
    super(args, { name: title, bin: join(directory, "bin/fanal.js"), execArgv: process.execArgv });
  }

  get usage(): ProcessUsage {
    return usageOf(this.pid);
  }

  get rpcPort(): number {
    return Number(new URL(this.url).port);
  }
}
