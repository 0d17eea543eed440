import { ProgramProcess } from "../../test/support/program/program-process.ts";
import type { Exit, Patience } from "../../test/support/program/program-run.ts";
import { type ProcessUsage, usageOf } from "./process-usage.ts";
import { withTempDirectory } from "./temp-directory.ts";

export interface ChainHead {
  head_slot: string;
  head_block_root: string;
  justified_slot: string;
  justified_block_root: string;
  finalized_slot: string;
  finalized_block_root: string;
}

/** The real program with JSON-RPC on a free loopback port. */
export class NodeProcess extends ProgramProcess {
  /** Starts the program and waits until it serves JSON-RPC. */
  static async start(name: string, args: readonly string[]): Promise<NodeProcess> {
    const started = new NodeProcess(name, [...args, "--rpc", "--rpc-port", "0"]);
    await started.untilServed();
    return started;
  }

  private constructor(name: string, args: readonly string[]) {
    // Passes on options such as --cpu-prof.
    super(args, { name, execArgv: process.execArgv });
  }

  get usage(): ProcessUsage {
    return usageOf(this.pid);
  }

  override callUntil<Result>(
    method: string,
    isWanted: (result: Result) => boolean,
    { pollMs = 50, seconds = 600 }: Patience = {},
  ): Promise<Result> {
    return super.callUntil(method, isWanted, { pollMs, seconds });
  }

  head(): Promise<ChainHead> {
    return this.call("getChainHead");
  }

  async headSlot(): Promise<number> {
    return Number((await this.head()).head_slot);
  }

  /** Stops the node and prints its warnings to standard error, since they invalidate the figures. */
  override async stop(signal?: NodeJS.Signals): Promise<Exit> {
    const exit = await super.stop(signal);
    for (const line of this.lines) if (/ (WARN|ERROR|FATAL) /.test(line)) console.error(`${this.name}: ${line}`);
    return exit;
  }
}

/** Runs the work with the program on a temporary data directory, and stops it afterwards. */
export function withNode<T>(args: readonly string[], work: (node: NodeProcess) => Promise<T>): Promise<T> {
  return withTempDirectory(async (directory) => {
    const node = await NodeProcess.start("The program", [...args, "--data-dir", directory]);
    try {
      return await work(node);
    } finally {
      await node.stop();
    }
  });
}
