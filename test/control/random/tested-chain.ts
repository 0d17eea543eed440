import { type DevChain, type DevChainOptions, startDevChain } from "../../../src/library/index.ts";
import { tempDirectory } from "../../support/directories/temp-directory.ts";
import { Program } from "../../support/program/program.ts";

/** Forks of a chain: that of its genesis, and the epochs of later ones. */
export interface ForkSchedule {
  fork: "capella" | "deneb" | "electra" | "fulu" | "gloas";
  forkAt: Readonly<Partial<Record<"deneb" | "electra" | "fulu" | "gloas", number>>>;
}

/** A chain behind its public interface. */
export interface TestedChain {
  call<Result = unknown>(method: string, params?: readonly unknown[] | object): Promise<Result>;
  /** Starts the stored chain again, after a stop or a crash. A chain in the test process cannot crash. */
  restart(how: "stop" | "kill"): Promise<void>;
  readonly canCrash: boolean;
  /** Warnings and errors since the first start. */
  readonly complaints: readonly string[];
}

/** Error response of a call. */
export class CallError extends Error {
  readonly code: number;

  constructor(method: string, { code, message }: { code: number; message: string }) {
    super(`${method}: ${message} (${code})`);
    this.code = code;
  }
}

const VALIDATORS = 32;
/** Short, so that validators can leave within the run. */
const CONFIG = { SHARD_COMMITTEE_PERIOD: 1, MIN_VALIDATOR_WITHDRAWABILITY_DELAY: 2 };
/** The same in each run of a seed, as is everything that follows from it. */
const GENESIS_TIME = 1_700_000_000;
const COMPLAINT = / (WARN|ERROR|FATAL) /;

/** A stored chain of the library in this process. */
export class LibraryChain implements TestedChain {
  readonly canCrash = false;
  readonly complaints: string[] = [];
  readonly #options: DevChainOptions;
  #chain!: DevChain;

  static async start({ fork, forkAt }: ForkSchedule, whenDone: (end: () => Promise<void>) => void) {
    const chain = new LibraryChain({
      fork,
      forkAt,
      validators: VALIDATORS,
      config: CONFIG,
      genesisTime: GENESIS_TIME,
      dataDir: tempDirectory(),
    });
    await chain.#open();
    whenDone(() => chain.#chain.stop());
    return chain;
  }

  private constructor(options: DevChainOptions) {
    this.#options = options;
  }

  async call<Result>(method: string, params: readonly unknown[] | object = []): Promise<Result> {
    try {
      return await this.#chain.eth.request<Result>({ method, params });
    } catch (error) {
      const { code } = error as { code?: number };
      if (code === undefined) throw error;
      throw new CallError(method, { code, message: (error as Error).message });
    }
  }

  async restart(): Promise<void> {
    await this.#chain.stop();
    await this.#open();
  }

  async #open(): Promise<void> {
    const log = (line: string) => void (COMPLAINT.test(line) && this.complaints.push(line.trimEnd()));
    this.#chain = await startDevChain({ ...this.#options, log });
  }
}

/** A chain of the real program, called over HTTP. */
export class ProgramChain implements TestedChain {
  readonly canCrash = true;
  readonly #args: readonly string[];
  readonly #earlierComplaints: string[] = [];
  #program!: Program;

  static async start({ fork, forkAt }: ForkSchedule): Promise<ProgramChain> {
    const chain = new ProgramChain([
      ...["--evm", "--no-auto", "--warmup-epochs", "0", "--fork", fork, "--validators", String(VALIDATORS)],
      ...Object.entries(forkAt).flatMap(([name, epoch]) => ["--fork-at", `${name}=${epoch}`]),
      ...Object.entries(CONFIG).flatMap(([name, value]) => ["--config", `${name}=${value}`]),
      ...["--genesis-time", String(GENESIS_TIME), "--data-dir", tempDirectory()],
    ]);
    chain.#program = await Program.dev(chain.#args);
    return chain;
  }

  private constructor(args: readonly string[]) {
    this.#args = args;
  }

  get complaints(): readonly string[] {
    return [...this.#earlierComplaints, ...this.#program.complaints];
  }

  async call<Result>(method: string, params: readonly unknown[] | object = []): Promise<Result> {
    const { result, error } = await this.#program.reply(method, params);
    if (error) throw new CallError(method, error);
    return result as Result;
  }

  async restart(how: "stop" | "kill"): Promise<void> {
    await this.#program.stop(how === "stop" ? "SIGTERM" : "SIGKILL");
    this.#earlierComplaints.push(...this.#program.complaints);
    this.#program = await Program.dev(this.#args);
  }
}
