import type { BeaconDb } from "../../src/db/beacon-db.ts";
import type { DevChain } from "../../src/dev/dev-chain.ts";
import type { ScheduledFork } from "../../src/dev/forks.ts";
import { createLogger } from "../../src/log/pino-logger.ts";
import type { BeaconNode } from "../../src/node/beacon-node.ts";
import { DevNode } from "../../src/node/dev-node.ts";
import { useNativeHasher } from "../../src/runtime/native-hasher.ts";
import { DEV_SETTINGS, NODE_SETTINGS } from "../../test/support/chain/settings.ts";
import { withTempDirectory } from "./temp-directory.ts";

export interface BenchedChain {
  devChain: DevChain;
  node: BeaconNode;
  db: BeaconDb;
}

interface BenchedChainOptions {
  validators: number;
  /** Validators with duties enabled. Default: all. */
  activeValidators?: readonly number[];
  forks: readonly ScheduledFork[];
  epochs: number;
}

/**
 * Runs the work with a new dev chain, whose clock the work drives. Up to the given epoch, validators perform all duties
 * of a slot at once.
 */
export function withDevChain<T>(options: BenchedChainOptions, work: (chain: BenchedChain) => Promise<T>): Promise<T> {
  return withTempDirectory(async (directory) => {
    const { close, ...chain } = await openDevChain(directory, options);
    try {
      return await work(chain);
    } finally {
      await close();
    }
  });
}

/** Opens the dev chain of a directory. Its warnings go to standard error, since they invalidate the figures. */
export async function openDevChain(
  directory: string,
  { epochs, ...options }: BenchedChainOptions,
): Promise<BenchedChain & { close(): Promise<void> }> {
  useNativeHasher();
  const { logger, setSpec } = createLogger({ format: "text", spec: "WARN", destination: process.stderr });
  const devNode = await DevNode.open({
    ...NODE_SETTINGS,
    ...DEV_SETTINGS,
    ...options,
    dataDir: directory,
    warmupEpochs: epochs,
    logger,
    setLogSpec: setSpec,
  });
  const { devChain, node } = devNode;
  return { devChain, node, db: node.db, close: () => devNode.close() };
}
