import { useNativeHasher } from "../../chain/native-hasher.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import { FutureTracker } from "../../debug/future-tracker.ts";
import { DevChain } from "../../dev/dev-chain.ts";
import { OtherChainError, requireDevChain } from "../../dev/identity.ts";
import type { Logger } from "../../log/logger.ts";
import type { LogControl } from "../../log/pino-logger.ts";
import { StartupError } from "../exit.ts";
import type { DevOptions } from "../flags/options.ts";
import type { RunningNode } from "../run.ts";
import { openDataDirectory } from "./data-directory.ts";
import { type Doors, openDoors } from "./doors.ts";

/** `fanal dev`: a beacon chain of its own, in this process. */
export async function runDev(options: DevOptions, logger: Logger, log: LogControl): Promise<RunningNode> {
  useNativeHasher();
  const futures = options.trackFutures ? FutureTracker.started() : undefined;
  // A dev chain need not survive a power cut; that a killed process loses nothing does not depend on this.
  const db = await openDataDirectory(options.dataDir, { sync: false });
  let devChain: DevChain | undefined;
  let doors: Doors | undefined;
  try {
    devChain = await openDevChain(db, { ...options, futures }, logger, log);
    doors = await openDoors(devChain.api, options, logger);
  } catch (error) {
    await devChain?.close();
    await db.close();
    throw error;
  }
  return live(devChain, doors, db, logger);
}

function live(devChain: DevChain, doors: Doors, db: BeaconDb, logger: Logger): RunningNode {
  const { promise: stopped, resolve, reject } = Promise.withResolvers<void>();
  let stopping = false;
  const flowing = devChain.warmUp().then(
    () => {
      const { head, forkChoice } = devChain.chain;
      logger.notice("The dev chain is running", { slot: head.slot, finalizedEpoch: forkChoice.finalized.epoch });
      devChain.run();
    },
    (error: unknown) => {
      if (!stopping) reject(error);
    },
  );
  return {
    stopped,
    async stop() {
      stopping = true;
      await devChain.clock.stop();
      await flowing;
      await doors.close();
      await devChain.close();
      await db.close();
      resolve();
    },
  };
}

async function openDevChain(
  db: BeaconDb,
  options: DevOptions & { futures?: FutureTracker },
  logger: Logger,
  { setSpec }: LogControl,
): Promise<DevChain> {
  try {
    if (options.reset) await reset(db);
    return await DevChain.open(db, { ...options, logger, setLogSpec: setSpec });
  } catch (error) {
    if (!(error instanceof OtherChainError)) throw error;
    throw new StartupError(
      "dataDirMismatch",
      `The data directory ${options.dataDir} holds ${error.held}; ${adviceFor(error)}.`,
      error,
    );
  }
}

/** Forgets a dev chain. That of a network is not ours to delete: it may have taken days to sync. */
async function reset(db: BeaconDb): Promise<void> {
  const stored = await db.meta.getIdentity();
  if (stored !== null) requireDevChain(stored);
  await db.clear();
}

function adviceFor({ isDevChain }: OtherChainError): string {
  return isDevChain
    ? "give the flags it was created with, another --data-dir, or --reset to start over"
    : "give another --data-dir";
}
