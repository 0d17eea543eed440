import { useNativeHasher } from "../../src/chain/native-hasher.ts";
import type { BeaconDb } from "../../src/db/beacon-db.ts";
import type { DevChain } from "../../src/dev/dev-chain.ts";
import type { ScheduledFork } from "../../src/dev/forks.ts";
import { createLogger } from "../../src/log/pino-logger.ts";
import type { BeaconNode } from "../../src/node/beacon-node.ts";
import { DevNode } from "../../src/node/dev-node.ts";
import { withTempDirectory } from "./temp-directory.ts";

export interface BenchedChain {
  devChain: DevChain;
  node: BeaconNode;
  db: BeaconDb;
}

interface BenchedChainOptions {
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
    const devNode = await DevNode.open({
      dataDir: directory,
      validators,
      forks,
      slotSeconds: 2,
      speed: 1,
      warmupEpochs: epochs,
      logger,
      setLogSpec: setSpec,
    });
    try {
      const { devChain, node } = devNode;
      return await work({ devChain, node, db: node.db });
    } finally {
      await devNode.close();
    }
  });
}
