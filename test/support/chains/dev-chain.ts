import { existsSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { ChainBlock } from "../../../src/chain/blocks/block-store.ts";
import type { BeaconDb } from "../../../src/db/beacon-db.ts";
import type { DevChain } from "../../../src/dev/dev-chain.ts";
import { createLogger } from "../../../src/log/pino-logger.ts";
import type { BeaconNode } from "../../../src/node/beacon-node.ts";
import { DevNode, type DevNodeOptions } from "../../../src/node/dev-node.ts";
import { createRememberingVerifier } from "../crypto/remembering-verifier.ts";
import { sharedKzg } from "../crypto/shared-kzg.ts";
import { removableDirectory } from "../directories/removable-directory.ts";
import { tempDirectory } from "../directories/temp-directory.ts";
import { madeOnce } from "./made-once.ts";
import { DEV_SETTINGS, NODE_SETTINGS } from "./settings.ts";

export interface OpenedDevChain {
  devChain: DevChain;
  /** The node that the chain is on. */
  node: BeaconNode;
  db: BeaconDb;
  /** Lines of warnings and errors; a healthy chain has none. */
  complaints: string[];
  /** Stops the chain before the test is over, so that its directory can be opened again. */
  close(): Promise<void>;
  /** Leaves the chain as a crash would: the database is closed, and nothing that lives in memory is saved. */
  abandon(): Promise<void>;
}

/** Options of a chain on which nobody acts but the test: no validator does anything, and time stands still in a slot. */
export const QUIET: Partial<DevNodeOptions> = { activeValidators: [], speed: 4 };

/** A dev chain in this process whose clock the test drives; closed when the test is over. */
export async function openDevChain(
  options: Partial<DevNodeOptions> = {},
  directory = tempDirectory(),
): Promise<OpenedDevChain> {
  const opened = await startDevChain(options, directory);
  onTestFinished(opened.close);
  return opened;
}

/** A chain on which validators made some slots of history, and which now waits for what the test does. */
export async function openQuietDevChain(
  historySlots: number,
  options: Partial<DevNodeOptions> = {},
  directory = tempDirectory(),
): Promise<OpenedDevChain> {
  await makeHistory(historySlots, options, directory);
  return openDevChain({ ...options, ...QUIET }, directory);
}

/** The same for several tests: whoever opens the chain closes it. History whose first slots are empty is made sooner. */
export async function startQuietDevChain(
  historySlots: number,
  options: Partial<DevNodeOptions> = {},
  { emptySlots = 0, quiet = QUIET } = {},
): Promise<OpenedDevChain> {
  const directory = removableDirectory();
  const empty: Stretch[] = emptySlots > 0 ? [[emptySlots, { ...options, ...QUIET }]] : [];
  await makeStretches([...empty, [historySlots, options]], directory.path);
  const opened = await startDevChain({ ...options, ...quiet }, directory.path);
  const close = async () => {
    await opened.close();
    directory.remove();
  };
  return { ...opened, close };
}

/** Takes the chain in a directory, or a new one, to a slot and leaves it closed. */
export function makeHistory(slots: number, options: Partial<DevNodeOptions>, directory: string): Promise<void> {
  return makeStretches([[slots, options]], directory);
}

type Stretch = [slots: number, options: Partial<DevNodeOptions>];

/** The same with several options, one after the other. The history of a new chain is made once for all who want the same. */
export async function makeStretches(stretches: readonly Stretch[], directory: string): Promise<void> {
  const make = async (place: string) => {
    for (const [slots, options] of stretches) {
      const { devChain, close } = await startDevChain(options, place);
      await advance(devChain, slots);
      await close();
    }
  };
  const isNew = !existsSync(join(directory, "beacon-db"));
  if (isNew && stretches.every(([, options]) => isToldByJson(options))) {
    await madeOnce(JSON.stringify(stretches), directory, make);
  } else {
    await make(directory);
  }
}

/**
 * Takes a chain to a slot by the short way, on which its validators make the very blocks and votes that they make as clients of
 * the API, which they are when the clock is driven.
 */
export async function advance({ control, clock }: DevChain, slot: number): Promise<void> {
  await control.time.advance({ slots: slot - clock.currentSlot });
}

/** Whether the history with these options is known by their JSON. The time of day has no part in it if it does not tell the genesis. */
function isToldByJson({ timeOfDay, ...options }: Partial<DevNodeOptions>): boolean {
  return (timeOfDay === undefined || options.genesisTime !== undefined) && isPlain(options);
}

function isPlain(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isPlain);
  if (typeof value !== "object" || value === null) return typeof value !== "function" && typeof value !== "bigint";
  return Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every(isPlain);
}

/** A dev chain of a directory that whoever opens it closes. */
export async function startDevChain(options: Partial<DevNodeOptions>, directory: string): Promise<OpenedDevChain> {
  const complaints: string[] = [];
  const { logger, setSpec } = createLogger({
    format: "text",
    spec: "WARN",
    destination: { write: (line) => complaints.push(line) },
  });
  const devNode = await DevNode.open({
    ...NODE_SETTINGS,
    ...DEV_SETTINGS,
    dataDir: directory,
    logger,
    setLogSpec: setSpec,
    ...options,
    chainTuning: { kzg: sharedKzg, createVerifier: createRememberingVerifier, ...options.chainTuning },
  });
  const { devChain, node } = devNode;
  const { db } = node;
  let ended: Promise<void> | undefined;
  const end = (ending: () => Promise<void>) => {
    ended ??= ending();
    return ended;
  };
  return {
    devChain,
    node,
    db,
    complaints,
    close: () => end(() => devNode.close()),
    abandon: () => end(() => devChain.clock.stop().then(() => db.close())),
  };
}

/** The canonical blocks up to a slot, none of which is empty: that of slot n is at n - 1. */
export async function blocksUpTo({ chain }: DevChain, last: number): Promise<ChainBlock[]> {
  const blocks: ChainBlock[] = [];
  for (let slot = 1; slot <= last; slot++) blocks.push((await chain.blocks.canonicalAtSlot(slot))!);
  return blocks;
}
