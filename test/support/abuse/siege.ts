import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { getPriority, setPriority } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { ProgramProcess } from "../program/program-process.ts";
import type { Order } from "./attacker-process.ts";
import { callText, type Target } from "./clients.ts";

const PROBE_EVERY_MILLIS = 20;
/** One in this many probes comes from a new connection. */
const NEWCOMER_EVERY = 5;
/** Probes that take longer count as unanswered. */
const PROBE_TIMEOUT_MILLIS = 30_000;

const ATTACKER = fileURLToPath(new URL("attacker-process.ts", import.meta.url));

/** Observations of a client that continuously requests the head. */
export interface ProbeFigures {
  /** Response times over a kept connection in milliseconds, in order. */
  latencies: number[];
  /** Response times of clients that connect for each request. */
  newcomers: number[];
  unanswered: number;
  /** Peak memory of the node. */
  peakBytes: number;
}

/** A process that attacks nodes in sequence. */
export class Attacker {
  readonly #process: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#process = child;
  }

  /** Starts the process with at least this niceness: an attacker on another machine would not use the node's cores. */
  static async start({ niceness = 0 } = {}): Promise<Attacker> {
    const child = fork(ATTACKER, { execArgv: [] });
    await once(child, "message");
    setPriority(child.pid!, Math.max(getPriority(child.pid!), niceness));
    return new Attacker(child);
  }

  begin(attack: string, target: Target): void {
    this.#process.send({ attack, target } satisfies Order);
  }

  /** Resolves when the last client is gone. */
  async end(): Promise<void> {
    const ended = once(this.#process, "message");
    this.#process.send("end" satisfies Order);
    await ended;
  }

  async stop(): Promise<void> {
    const exited = once(this.#process, "exit");
    this.#process.disconnect();
    await exited;
  }
}

export async function targetOf(program: ProgramProcess): Promise<Target> {
  const [, restUrl] = await program.untilLine(/REST is served at (http:\S+)/);
  const jsonRpcUrl = await program.untilServed();
  const { current_slot } = await program.call<{ current_slot: string }>("getChainTime");
  return { jsonRpcUrl, restUrl: restUrl!, slot: Number(current_slot) };
}

/**
 * Requests the head of a node every 20 ms over a kept connection without waiting for earlier responses, and sometimes
 * over a new connection. Calls `begin` when the kept connection is open.
 */
export async function probe(
  program: ProgramProcess,
  { seconds, begin }: { seconds: number; begin?: () => void },
): Promise<ProbeFigures> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const figures: ProbeFigures = { latencies: [], newcomers: [], unanswered: 0, peakBytes: 0 };
  const pending: Promise<void>[] = [];
  const note = (latencies: number[], question: Promise<number>) => {
    const position = latencies.push(PROBE_TIMEOUT_MILLIS) - 1;
    const noted = question.then(
      (millis) => {
        latencies[position] = millis;
      },
      () => {
        figures.unanswered++;
      },
    );
    pending.push(noted);
  };
  await ask(program.url, agent).catch(() => {});
  begin?.();
  const end = performance.now() + seconds * 1000;
  for (let number = 0; performance.now() < end; number++) {
    note(figures.latencies, ask(program.url, agent));
    if (number % NEWCOMER_EVERY === 0) note(figures.newcomers, ask(program.url, false));
    figures.peakBytes = Math.max(figures.peakBytes, residentBytes(program.pid));
    await delay(PROBE_EVERY_MILLIS);
  }
  await Promise.all(pending);
  agent.destroy();
  return figures;
}

function ask(url: string, agent: Agent | false): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const began = performance.now();
  const body = callText("getChainHead", []);
  const headers = { "Content-Type": "application/json", "Content-Length": body.length };
  const question = request(url, { method: "POST", agent, headers, timeout: PROBE_TIMEOUT_MILLIS }, (response) => {
    response.resume().on("end", () => {
      if (response.statusCode === 200) resolve(performance.now() - began);
      else reject(new Error(`The node answered ${response.statusCode}.`));
    });
  });
  question.on("timeout", () => question.destroy(new Error("The node did not answer.")));
  question.on("error", reject);
  question.end(body);
  return promise;
}

function residentBytes(pid: number): number {
  try {
    const [, pages] = readFileSync(`/proc/${pid}/statm`, "utf8").split(" ");
    return Number(pages) * 4096;
  } catch {
    // The process has exited, or this is not Linux.
    return 0;
  }
}
