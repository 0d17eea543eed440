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
import { describeNetwork, inviteOthers } from "./dev-network.ts";
import { type Doors, openDoors } from "./doors.ts";
import { requireUsablePeers } from "./known-peers.ts";
import { startNetworking } from "./start-networking.ts";

/** `fanal dev`: a beacon chain of its own, in this process. */
export async function runDev(options: DevOptions, logger: Logger, log: LogControl): Promise<RunningNode> {
  useNativeHasher();
  const futures = options.trackFutures ? FutureTracker.started() : undefined;
  if (options.networking) await requireUsablePeers(options.networking);
  // A dev chain need not survive a power cut; that a killed process loses nothing does not depend on this.
  const db = await openDataDirectory(options.dataDir, { sync: false });
  let devChain: DevChain | undefined;
  let doors: Doors | undefined;
  try {
    devChain = await openDevChain(db, { ...options, futures }, logger, log);
    await describeNetwork(devChain, options.dataDir);
    doors = await openDoors(devChain.api, options, logger);
  } catch (error) {
    await devChain?.close();
    await db.close();
    throw error;
  }
  return live({ devChain, doors, db }, options, logger);
}

interface Opened {
  devChain: DevChain;
  doors: Doors;
  db: BeaconDb;
}

function live({ devChain, doors, db }: Opened, options: DevOptions, logger: Logger): RunningNode {
  const { promise: stopped, resolve, reject } = Promise.withResolvers<void>();
  let stopping = false;
  const close = async () => {
    await doors.close();
    await devChain.close();
    await db.close();
  };
  const flowing = letFlow(devChain, options, logger).catch(async (error: unknown) => {
    if (stopping) return;
    await close().finally(() => reject(error));
  });
  return {
    stopped,
    async stop() {
      stopping = true;
      await devChain.clock.stop();
      await flowing;
      await close();
      resolve();
    },
  };
}

async function letFlow(devChain: DevChain, options: DevOptions, logger: Logger): Promise<void> {
  const { isNew, missingSlots } = devChain;
  if (!isNew && missingSlots > 0) logger.notice("The chain makes up for missing slots", { slots: missingSlots });
  await devChain.warmUp();
  if (devChain.networking && options.networking) {
    await startNetworking(devChain.networking, options.networking, logger);
    await inviteOthers(devChain.networking, options.dataDir, logger);
    // Time went on meanwhile.
    await devChain.warmUp();
  }
  const { head, forkChoice } = devChain.chain;
  logger.notice("The dev chain is running", { slot: head.slot, finalizedEpoch: forkChoice.finalized.epoch });
  devChain.run();
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
