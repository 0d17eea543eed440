import { join } from "node:path";
import { useNativeHasher } from "../../src/chain/native-hasher.ts";
import type { BeaconDb } from "../../src/db/beacon-db.ts";
import { openDatabase } from "../../src/db/open-database.ts";
import { DevChain } from "../../src/dev/dev-chain.ts";
import type { ScheduledFork } from "../../src/dev/forks.ts";
import { createLogger } from "../../src/log/pino-logger.ts";
import { withTempDirectory } from "./temp-directory.ts";

export interface BenchedChain {
  devChain: DevChain;
  db: BeaconDb;
}

export interface BenchedChainOptions {
  validators: number;
  forks: readonly ScheduledFork[];
  epochs: number;
}

/**
 * Runs the work with a new dev chain whose clock the work drives. Up to the given epoch its validators do everything a
 * slot asks for at once. Whatever the chain warns of goes to standard error: figures of an ailing chain mean nothing.
 */
export function withDevChain<T>(
  { validators, forks, epochs }: BenchedChainOptions,
  work: (chain: BenchedChain) => Promise<T>,
): Promise<T> {
  useNativeHasher();
  return withTempDirectory(async (directory) => {
    const { logger, setSpec } = createLogger({ format: "text", spec: "WARN", destination: process.stderr });
    const db = await openDatabase(join(directory, "beacon-db"), { sync: false });
    const devChain = await DevChain.open(db, {
      validators,
      forks,
      slotSeconds: 2,
      speed: 1,
      warmupEpochs: epochs,
      logger,
      setLogSpec: setSpec,
    });
    try {
      return await work({ devChain, db });
    } finally {
      await devChain.close();
      await db.close();
    }
  });
}
