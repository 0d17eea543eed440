import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";

export interface LodestarValidatorOptions {
  restUrl: string;
  /** How many validators it signs for, from the first interop key on. */
  validators: number;
  configFile: string;
  dataDirectory: string;
  graffiti: string;
}

function fromEnvironment(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set; run these tests with "npm run test:interop".`);
  return value;
}

/** Lodestar's validator client as a process of its own, ended with the test. */
export class LodestarValidator {
  /** Every line it has printed, in the order of arrival. */
  readonly lines: string[] = [];
  /** Rejects when the client ends, which it never does by itself unless something is wrong. */
  readonly ended: Promise<never>;
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown[]>;

  constructor(options: LodestarValidatorOptions) {
    const args = [
      ["--network", "dev"],
      ["--beaconNodes", options.restUrl],
      ["--interopIndexes", `0..${options.validators - 1}`],
      ["--paramsFile", options.configFile],
      ["--dataDir", options.dataDirectory],
      ["--graffiti", options.graffiti],
      ["--suggestedFeeRecipient", "0x0000000000000000000000000000000000000001"],
      ["--logLevel", "info"],
    ].flat();
    this.#child = spawn(fromEnvironment("INTEROP_NODE"), [fromEnvironment("INTEROP_LODESTAR"), "validator", ...args], {
      cwd: options.dataDirectory,
      env: { ...process.env, LODESTAR_PRESET: "minimal", NODE_OPTIONS: "" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      createInterface({ input: stream }).on("line", (line) => this.lines.push(line));
    }
    this.#closed = once(this.#child, "close");
    this.ended = this.#closed.then(([code, signal]) => {
      throw new Error(`Lodestar's validator client ended (${signal ?? `exit code ${code}`}):\n${this.output}`);
    });
    // The end that the test itself brings about is nobody's failure.
    this.ended.catch(() => {});
    onTestFinished(() => this.#kill());
  }

  get output(): string {
    return this.lines.join("\n");
  }

  async #kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#closed;
  }
}
