import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import { EXIT_CODES } from "../../../src/cli/exit.ts";
import { tempDirectory } from "../directories/temp-directory.ts";
import { Program } from "../program/program.ts";
import { ProgramHere } from "../program/program-here.ts";
import { type ChainHead, ChainMemory, expectNothingForgotten, watch } from "./chain-memory.ts";

/** One in this many crashes is followed by a kill during the restart. */
const CRASHES_PER_START_KILLED = 4;
const LONGEST_LIFE_MS = 700;
const LONGEST_START_MS = 1200;

const devFlags = () => ["--data-dir", tempDirectory(), "--validators", "8", "--speed", "100"];

/** Kills a dev chain repeatedly, and checks after each restart that nothing was lost. */
export async function survivesCrashes(crashes: number, random: () => number): Promise<void> {
  const flags = devFlags();
  const memory = new ChainMemory();
  for (let crash = 0; crash < crashes; crash++) {
    if (crash % CRASHES_PER_START_KILLED === 0) {
      const starting = new Program(["dev", ...flags]);
      await delay(random() * LONGEST_START_MS);
      await starting.kill();
    }
    const program = await Program.dev(flags);
    await expectNothingForgotten(program, memory);
    // Only reported blocks can be lost.
    if (crash === 0)
      memory.note(await program.callUntil<ChainHead>("getChainHead", ({ head_slot }) => head_slot !== "0"));
    const watching = watch(program, memory);
    // Lifetimes vary from immediate kills, during the warm-up, to several epochs.
    await delay(random() * LONGEST_LIFE_MS);
    expect(await program.stop("SIGKILL"), program.output).toEqual({ code: null, signal: "SIGKILL" });
    await watching;
    expect(program.complaints).toEqual([]);
  }

  const program = await ProgramHere.dev(flags);
  await expectNothingForgotten(program, memory);
  const finalizedAtRestart = memory.finalizedSlot;
  await program.callUntil<ChainHead>("getChainHead", (head) => Number(head.finalized_slot) > finalizedAtRestart);
  expect(await program.stop()).toEqual({ code: 0, signal: null });
}

const SMALLEST_DISK_KIB = 200;
const LARGEST_DISK_KIB = 500;

/**
 * Runs a dev chain into a file size limit repeatedly, and removes the limit for the next start. The process must exit
 * with the documented code, and reported data must survive.
 */
export async function survivesFullDisks(times: number, random: () => number): Promise<void> {
  const flags = devFlags();
  const memory = new ChainMemory();
  for (let time = 0; time < times; time++) {
    const kib = Math.floor(SMALLEST_DISK_KIB + random() * (LARGEST_DISK_KIB - SMALLEST_DISK_KIB));
    // In POSIX units of 512 bytes.
    const limited = new Program(["dev", ...flags, "--rpc", "--rpc-port", "0"], { shell: `ulimit -f ${2 * kib}` });
    const watching = limited.untilServed().then(
      () => watch(limited, memory),
      // The limit may be too small even for the start.
      () => {},
    );
    const { code } = await limited.exited;
    expect([EXIT_CODES.dataDirFailed, EXIT_CODES.dataDirUnusable], limited.output).toContain(code);
    expect(limited.errors.at(-1)).toMatch(
      /^fanal: The (database|data directory) .*(File too large|could not be written)/,
    );
    await watching;
    const freed = await ProgramHere.dev(flags);
    await expectNothingForgotten(freed, memory);
    expect(await freed.stop()).toEqual({ code: 0, signal: null });
  }
  expect(memory.slots.size).toBeGreaterThan(times);
}
