import { onTestFinished } from "vitest";
import type { BeaconDb } from "../../src/db/beacon-db.ts";
import type { DevChain } from "../../src/dev/dev-chain.ts";
import { createLogger } from "../../src/log/pino-logger.ts";
import type { BeaconNode } from "../../src/node/beacon-node.ts";
import { DevNode, type DevNodeOptions } from "../../src/node/dev-node.ts";
import { removableDirectory } from "./removable-directory.ts";
import { tempDirectory } from "./temp-directory.ts";

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
  { emptySlots = 0 } = {},
): Promise<OpenedDevChain> {
  const directory = removableDirectory();
  if (emptySlots > 0) await makeHistory(emptySlots, { ...options, ...QUIET }, directory.path);
  await makeHistory(historySlots, options, directory.path);
  const opened = await startDevChain({ ...options, ...QUIET }, directory.path);
  const close = async () => {
    await opened.close();
    directory.remove();
  };
  return { ...opened, close };
}

/** Takes the chain in a directory, or a new one, to a slot and leaves it closed. */
export async function makeHistory(slots: number, options: Partial<DevNodeOptions>, directory: string): Promise<void> {
  const { devChain, close } = await startDevChain(options, directory);
  await devChain.clock.advanceTo(slots);
  await close();
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
    dataDir: directory,
    validators: 16,
    forks: [],
    slotSeconds: 2,
    speed: 1,
    warmupEpochs: 0,
    logger,
    setLogSpec: setSpec,
    ...options,
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
