import { join } from "node:path";
import type { BeaconConfig } from "@lodestar/config";
import type { Slot } from "@lodestar/types";
import { onTestFinished } from "vitest";
import { initialiseDatabase } from "../../../src/chain/anchor/anchor.ts";
import { BeaconChain } from "../../../src/chain/chain.ts";
import { VirtualClock } from "../../../src/chain/clock/virtual-clock.ts";
import { DEFAULT_CHAIN_SETTINGS } from "../../../src/chain/settings.ts";
import type { Kzg } from "../../../src/data/kzg/kzg.ts";
import { openDatabase } from "../../../src/db/open-database.ts";
import type { DevChain } from "../../../src/dev/dev-chain.ts";
import { DevExecutionEngine } from "../../../src/execution/dev-engine.ts";
import type { ExecutionEngine } from "../../../src/execution/engine.ts";
import { createLogger } from "../../../src/log/pino-logger.ts";
import { createRememberingVerifier } from "../bls/remembering-verifier.ts";
import { tempDirectory } from "../directories/temp-directory.ts";

/** Identity of the chain in a data directory. */
export interface StoredChain {
  directory: string;
  config: BeaconConfig;
  genesisTime: number;
}

export function storedChain(directory: string, { config, chain }: DevChain): StoredChain {
  return { directory, config, genesisTime: chain.genesis.time };
}

/** Creates a data directory with only the genesis of a chain. */
export async function emptyStoredChain({ config, chain }: DevChain): Promise<StoredChain> {
  const directory = tempDirectory();
  const db = await openDatabase(join(directory, "beacon-db"), { sync: false });
  await initialiseDatabase(db, config, { state: (await chain.states.genesis())! }, {});
  await db.close();
  return { directory, config, genesisTime: chain.genesis.time };
}

/** Opens the chain of a data directory without the validators of a dev chain, at any time and with any engine. */
export async function openStoredChain(
  { directory, config, genesisTime }: StoredChain,
  { slot, engine = new DevExecutionEngine(), kzg }: { slot: Slot; engine?: ExecutionEngine; kzg?: Kzg },
) {
  const db = await openDatabase(join(directory, "beacon-db"), { sync: false });
  const complaints: string[] = [];
  const { logger } = createLogger({
    format: "text",
    spec: "WARN",
    destination: { write: (line) => complaints.push(line) },
  });
  const clock = new VirtualClock({
    genesisTime,
    secondsPerSlot: config.SECONDS_PER_SLOT,
    startSlot: slot,
    speed: 1,
    onListenerError: (error) => complaints.push(String(error)),
  });
  const opened: { chain?: BeaconChain } = {};
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= Promise.resolve(opened.chain?.close()).finally(() => db.close());
    return closed;
  };
  onTestFinished(close);
  const chain = await BeaconChain.open({
    settings: DEFAULT_CHAIN_SETTINGS,
    config,
    db,
    clock,
    engine,
    kzg,
    createVerifier: createRememberingVerifier,
    logger,
  });
  opened.chain = chain;
  return { chain, clock, db, complaints, close };
}
