import { readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RootHex } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { expect } from "vitest";
import type { BeaconChain } from "../../../src/chain/chain.ts";
import { readLog } from "../../../src/db/files/log-file.ts";
import { createLogger } from "../../../src/log/pino-logger.ts";
import { StartError } from "../../../src/node/start-error.ts";
import { QUIET, startDevChain } from "../chain/dev-chain.ts";

/** Flips a bit of a database file, or truncates one. Returns a description. */
export function damageOneFile(dataDir: string, random: () => number): string {
  const path = join(dataDir, "beacon-db");
  const names = readdirSync(path).filter((name) => !/^(LOCK|LOG|LOG\.old)$/.test(name));
  const name = names[Math.floor(random() * names.length)]!;
  const bytes = readFileSync(join(path, name));
  const place = Math.floor(random() * bytes.length);
  if (random() < 0.3) {
    // A log truncated between two writes is indistinguishable from a shorter one.
    const isClean = name.endsWith(".log") && readLog(bytes.subarray(0, place)).tornBytes === 0;
    const length = isClean ? place + 1 : place;
    truncateSync(join(path, name), length);
    return `${name} cut at byte ${length} of ${bytes.length}`;
  }
  bytes[place]! ^= 1 << Math.floor(random() * 8);
  writeFileSync(join(path, name), bytes);
  return `a bit of byte ${place} of ${bytes.length} of ${name} flipped`;
}

/** Block and state root of each slot up to the head. */
interface SlotAnswer {
  root: RootHex | undefined;
  stateRoot: RootHex | undefined;
}

export async function answersOf(chain: BeaconChain): Promise<SlotAnswer[]> {
  const answers: SlotAnswer[] = [];
  for (let slot = 0; slot <= chain.head.slot; slot++) {
    const block = await chain.blocks.canonicalAtSlot(slot);
    const state = await chain.states.canonicalAtSlot(slot);
    answers.push({ root: block?.root, stateRoot: state ? toRootHex(state.hashTreeRoot()) : undefined });
  }
  return answers;
}

export type DamageOutcome = "refused" | "shorter" | "same";

/**
 * Starts a dev chain with damaged files. It must be rejected as damaged, or return the same as the intact one; a
 * missing end must be logged.
 */
export async function startDamaged(dataDir: string, whole: readonly SlotAnswer[]): Promise<DamageOutcome> {
  const lines: string[] = [];
  const { logger } = createLogger({
    format: "text",
    spec: "NOTICE",
    destination: { write: (line) => lines.push(line) },
  });
  let opened: Awaited<ReturnType<typeof startDevChain>>;
  try {
    opened = await startDevChain({ ...QUIET, logger }, dataDir);
  } catch (error) {
    expect(error).toBeInstanceOf(StartError);
    expect((error as StartError).kind).toBe("dataDirDamaged");
    return "refused";
  }
  try {
    const answers = await answersOf(opened.devChain.chain);
    expect(answers).toEqual(whole.slice(0, answers.length));
    if (answers.length === whole.length) return "same";
    expect(lines.join("")).toContain("Discarded torn write after crash");
    return "shorter";
  } finally {
    await opened.close();
  }
}
