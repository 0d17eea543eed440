import { existsSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { ChainBlock } from "../../../src/chain/blocks/block-store.ts";
import type { BeaconDb } from "../../../src/db/beacon-db.ts";
import type { DevChain } from "../../../src/dev/dev-chain.ts";
import { createLogger } from "../../../src/log/pino-logger.ts";
import type { BeaconNode } from "../../../src/node/beacon-node.ts";
import { DevNode, type DevNodeOptions } from "../../../src/node/dev-node.ts";
import type { Servers } from "../../../src/node/servers/servers.ts";
import { createRememberingVerifier } from "../bls/remembering-verifier.ts";
import { sharedKzg } from "../data/kzg/shared-kzg.ts";
import { removableDirectory } from "../directories/removable-directory.ts";
import { tempDirectory } from "../directories/temp-directory.ts";
import { madeOnce } from "./made-once.ts";
import { DEV_SETTINGS, NODE_SETTINGS } from "./settings.ts";

export interface OpenedDevChain {
  devChain: DevChain;
  /** Node of the chain. */
  node: BeaconNode;
  db: BeaconDb;
  servers: Servers;
  /** Warnings and errors; empty for a healthy chain. */
  complaints: string[];
  /** Stops the chain before the end of the test, so that its directory can be reopened. */
  close(): Promise<void>;
  /** Simulates a crash: closes the database without saving in-memory data. */
  abandon(): Promise<void>;
}

/**
 * Default genesis time of new chains. Chains with equal options are equal then, so their signatures are cached. Their
 * clock starts at the first slot regardless.
 */
const GENESIS_TIME = Math.floor(Date.now() / 1000);

/** Options of a chain with a paused clock and no active validators. */
export const QUIET: Partial<DevNodeOptions> = { activeValidators: [], speed: 4 };

/**
 * A dev chain in this process with a manual clock, closed at the end of the test. Its database is in memory if the test
 * names no directory. With the EVM it is on disk, because such tests read the engine, which is told of a block a moment
 * after the chain.
 */
export async function openDevChain(options: Partial<DevNodeOptions> = {}, directory?: string): Promise<OpenedDevChain> {
  const isInMemory = directory === undefined && options.evm === undefined;
  const opened = await startDevChain({ isInMemory, ...options }, directory ?? tempDirectory());
  onTestFinished(opened.close);
  return opened;
}

/** A chain with some slots of history, then controlled by the test. */
export async function openQuietDevChain(
  historySlots: number,
  options: Partial<DevNodeOptions> = {},
  directory = tempDirectory(),
): Promise<OpenedDevChain> {
  await makeHistory(historySlots, options, directory);
  return openDevChain({ ...options, ...QUIET }, directory);
}

/** Like the above, for several tests; the caller closes the chain. Empty first slots make the history cheaper. */
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

/** Advances the chain in a directory, or a new one, to a slot and closes it. */
export function makeHistory(slots: number, options: Partial<DevNodeOptions>, directory: string): Promise<void> {
  return makeStretches([[slots, options]], directory);
}

type Stretch = [slots: number, options: Partial<DevNodeOptions>];

/** The same with several options, one after the other. The history of a new chain is created once and shared. */
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

/** Advances a chain to a slot in lockstep, which gives the same blocks and votes as validators that use the API. */
export async function advance({ control, clock }: DevChain, slot: number): Promise<void> {
  await control.time.advance({ slots: slot - clock.currentSlot });
}

/** True if the JSON of the options identifies the history: the genesis time must not depend on the wall clock. */
function isToldByJson({ timeOfDay, ...options }: Partial<DevNodeOptions>): boolean {
  return (timeOfDay === undefined || options.genesisTime !== undefined) && isPlain(options);
}

function isPlain(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isPlain);
  if (typeof value !== "object" || value === null) return typeof value !== "function" && typeof value !== "bigint";
  return Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every(isPlain);
}

/** Opens the dev chain of a directory. The caller closes it. */
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
    ...(startsAnyTime(options, directory) && { genesisTime: GENESIS_TIME }),
    dataDir: directory,
    logger,
    setLogSpec: setSpec,
    ...options,
    chainTuning: { kzg: sharedKzg, createVerifier: createRememberingVerifier, ...options.chainTuning },
  });
  const { devChain, node, servers } = devNode;
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
    servers,
    complaints,
    close: () => end(() => devNode.close()),
    abandon: () => end(() => devChain.clock.stop().then(() => db.close())),
  };
}

/** True for a new chain whose genesis time does not depend on another clock, a history or an execution client. */
function startsAnyTime(options: Partial<DevNodeOptions>, directory: string): boolean {
  const { timeOfDay, warmupEpochs, networking, execution } = options;
  const isAlone = [timeOfDay, warmupEpochs, networking, execution].every((option) => !option);
  return isAlone && !existsSync(join(directory, "beacon-db"));
}

/** Returns the canonical blocks up to a slot. No slot may be empty: the block of slot n is at n - 1. */
export async function blocksUpTo({ chain }: DevChain, last: number): Promise<ChainBlock[]> {
  const blocks: ChainBlock[] = [];
  for (let slot = 1; slot <= last; slot++) blocks.push((await chain.blocks.canonicalAtSlot(slot))!);
  return blocks;
}
