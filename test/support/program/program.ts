import { onTestFinished } from "vitest";
import { ProgramProcess, type ProgramProcessOptions } from "./program-process.ts";

interface ProgramOptions extends ProgramProcessOptions {
  /** Registers the kill of the program. Default: at the end of the test. */
  whenDone?: (end: () => Promise<void>) => void;
}

/** The real program for the duration of a test. */
export class Program extends ProgramProcess {
  constructor(args: readonly string[], { whenDone = onTestFinished, ...options }: ProgramOptions = {}) {
    super(args, options);
    whenDone(() => this.kill());
  }

  /** Starts a dev chain with JSON-RPC on a free port. */
  static async dev(args: readonly string[], options?: ProgramOptions): Promise<Program> {
    return Program.served(["dev", ...args], options);
  }

  /** Starts any command of the program with JSON-RPC on a free port. */
  static async served(args: readonly string[], options?: ProgramOptions): Promise<Program> {
    const program = new Program([...args, "--rpc", "--rpc-port", "0"], options);
    await program.untilServed();
    return program;
  }
}
