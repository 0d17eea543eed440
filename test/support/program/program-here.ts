import { EventEmitter } from "node:events";
import { constants } from "node:os";
import { onTestFinished } from "vitest";
import { SYSTEM_TIMERS } from "../../../src/async/timers.ts";
import { type CliContext, main } from "../../../src/cli/main.ts";
import { runDev } from "../../../src/cli/start/dev.ts";
import { runGateway } from "../../../src/cli/start/gateway.ts";
import { runNode } from "../../../src/cli/start/node.ts";
import type { Kzg } from "../../../src/data/kzg/kzg.ts";
import { createLogger } from "../../../src/log/pino-logger.ts";
import type { SharedOptions } from "../../../src/node/beacon-node.ts";
import { createRememberingVerifier } from "../bls/remembering-verifier.ts";
import { sharedKzg } from "../data/kzg/shared-kzg.ts";
import { type Exit, ProgramRun } from "./program-run.ts";

interface ProgramHereOptions {
  /** Registers the stop of the program. Default: at the end of the test. */
  whenDone?: (end: () => Promise<void>) => void;
  /** Default: the backend shared by all tests, which avoids loading the trusted setup again. */
  kzg?: Kzg;
  /** Environment variables. */
  env?: CliContext["environment"];
}

/**
 * Runs the program in this process, which saves a second of startup. The preset is that of the libraries in this
 * process.
 */
export class ProgramHere extends ProgramRun {
  readonly exited: Promise<Exit>;
  readonly #signals = new EventEmitter();

  constructor(args: readonly string[], options: ProgramHereOptions = {}) {
    const { whenDone = onTestFinished, kzg = sharedKzg, env = {} } = options;
    super();
    const { promise: exitedNow, resolve: exitNow } = Promise.withResolvers<number>();
    const ended = Promise.race([main(args, this.#context(exitNow, kzg, env)), exitedNow]);
    this.exited = ended.then((code) => {
      this.end();
      return { code, signal: null };
    });
    whenDone(async () => void (await this.stop()));
  }

  /** Starts a dev chain with JSON-RPC on a free port. */
  static async dev(args: readonly string[], options?: ProgramHereOptions): Promise<ProgramHere> {
    return ProgramHere.served(["dev", ...args], options);
  }

  /** Starts any command of the program with JSON-RPC on a free port. */
  static async served(args: readonly string[], options?: ProgramHereOptions): Promise<ProgramHere> {
    const program = new ProgramHere([...args, "--rpc", "--rpc-port", "0"], options);
    await program.untilServed();
    return program;
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<Exit> {
    this.#signals.emit(signal, signal);
    return this.exited;
  }

  #context(exitNow: (code: number) => void, kzg: Kzg, env: CliContext["environment"]): CliContext {
    // Most tests need no EVM, and its default port is the same for all.
    const defaults = { FANAL_EVM: "false", FANAL_ETH_RPC: "false" };
    const environment: CliContext["environment"] = { ...process.env, ...defaults, ...env };
    const loaded = environment.LODESTAR_PRESET;
    const requireLoadedPreset = () => {
      const { LODESTAR_PRESET: wanted } = environment;
      if (wanted !== loaded) throw new Error(`The preset ${wanted} takes a process of its own; here it is ${loaded}.`);
    };
    const print = (text: string) => {
      for (const line of linesOf(text)) this.print(line);
    };
    const printError = (text: string) => {
      for (const line of linesOf(text)) this.printError(line);
    };
    return {
      environment,
      workingDirectory: process.cwd(),
      err: printError,
      createLog: (options) => createLogger({ ...options, destination: { write: print } }),
      events: this.#signals,
      exitNow,
      endBy: (signal) => exitNow(128 + constants.signals[signal]),
      timers: SYSTEM_TIMERS,
      // Shared by all tests in this process.
      setUmask: () => {},
      runners: {
        dev: async () => {
          requireLoadedPreset();
          return (options, ...rest) => runDev(inThisProcess(options, kzg), ...rest);
        },
        node: async () => {
          requireLoadedPreset();
          return (options, ...rest) => runNode(inThisProcess(options, kzg), ...rest);
        },
        gateway: async () => runGateway,
      },
      terminal: {
        isInteractive: false,
        write: async (chunk) => {
          print(String(chunk));
          return true;
        },
        writeError: printError,
        readInput: async () => Buffer.alloc(0),
      },
    };
  }
}

/** Adds overrides that have no flag to the node's settings. */
function inThisProcess<Settings>(settings: Settings, kzg: Kzg): Settings & Pick<SharedOptions, "chainTuning"> {
  return { ...settings, chainTuning: { kzg, createVerifier: createRememberingVerifier } };
}

function linesOf(text: string): string[] {
  return text.replace(/\n$/, "").split("\n");
}
