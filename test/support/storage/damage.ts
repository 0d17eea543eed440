import { readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RootHex } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { expect } from "vitest";
import type { BeaconChain } from "../../../src/chain/chain.ts";
import { readLog } from "../../../src/db/files/log-file.ts";
import { createLogger } from "../../../src/log/pino-logger.ts";
import { StartError } from "../../../src/node/start-error.ts";
import { QUIET, startDevChain } from "../chains/dev-chain.ts";

/** Flips a bit of a file of the database, or cuts a file off; says what it did. */
export function damageOneFile(dataDir: string, random: () => number): string {
  const path = join(dataDir, "beacon-db");
  const names = readdirSync(path).filter((name) => !/^(LOCK|LOG|LOG\.old)$/.test(name));
  const name = names[Math.floor(random() * names.length)]!;
  const bytes = readFileSync(join(path, name));
  const place = Math.floor(random() * bytes.length);
  if (random() < 0.3) {
    // A log that ends between two writes is one to which the later ones were never made; nobody can tell.
    const isClean = name.endsWith(".log") && readLog(bytes.subarray(0, place)).tornBytes === 0;
    const length = isClean ? place + 1 : place;
    truncateSync(join(path, name), length);
    return `${name} cut at byte ${length} of ${bytes.length}`;
  }
  bytes[place]! ^= 1 << Math.floor(random() * 8);
  writeFileSync(join(path, name), bytes);
  return `a bit of byte ${place} of ${bytes.length} of ${name} flipped`;
}

/** What a chain answers for each slot up to its head: the block, and the root of the state. */
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
 * Starts a dev chain whose files were damaged. It is refused as damaged, or all that it answers is what the whole one answered;
 * where its end is missing, as after a crash, the log says so.
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
