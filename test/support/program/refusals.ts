import { expect } from "vitest";
import { EXIT_CODES, type ExitReason } from "../../../src/cli/exit.ts";
import type { DevFork } from "../../../src/dev/forks.ts";
import { openDevChain } from "../chain/dev-chain.ts";
import type { Program } from "./program.ts";
import { ProgramHere } from "./program-here.ts";

/**
 * Runs the program, which must exit with a code and one line. Returns the line without its prefix. A preset other than
 * that of the tests needs a separate process.
 */
export async function refusal(
  args: string[],
  reason: ExitReason,
  Run: typeof Program | typeof ProgramHere = ProgramHere,
) {
  const program = new Run(args);
  const started = program.untilLine(/JSON-RPC server is off|JSON-RPC is served/).then(
    () => "started" as const,
    () => program.exited,
  );
  expect(await started, program.output).toEqual({ code: EXIT_CODES[reason], signal: null });
  expect(program.errors).toHaveLength(1);
  expect(program.output.replace(/ FATAL node +Fatal error, exiting /, "")).not.toMatch(/ (ERROR|FATAL) /);
  const [, sentence] = program.errors[0]!.match(/^fanal: (.+[.?])$/) ?? [];
  expect(sentence, program.errors[0]).toBeDefined();
  return sentence!;
}

/** Creates the data directory of a stopped dev chain. */
export async function madeDevChain(dataDir: string, { validators = 8, fork = "phase0" as DevFork, slot = 0 } = {}) {
  // The slot is in the past by the wall clock.
  const genesisTime = Math.floor(Date.now() / 1000) - 60;
  const { devChain, close } = await openDevChain({ validators, forks: [{ fork, epoch: 0 }], genesisTime }, dataDir);
  await devChain.clock.advanceTo(slot);
  await devChain.chain.refreshHead();
  const genesis = (await devChain.chain.states.genesis())!.serialize();
  const head = devChain.chain.headState.serialize();
  await close();
  return { config: devChain.config, genesis, head };
}

export const devFlags = (dataDir: string) => [
  "dev",
  "--validators",
  "8",
  "--warmup-epochs",
  "0",
  "--data-dir",
  dataDir,
];
