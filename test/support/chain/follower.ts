import type { Slot } from "@lodestar/types";
import { BeaconChain } from "../../../src/chain/chain.ts";
import { VirtualClock } from "../../../src/chain/clock/virtual-clock.ts";
import { DEFAULT_CHAIN_SETTINGS } from "../../../src/chain/settings.ts";
import type { BeaconDb } from "../../../src/db/beacon-db.ts";
import type { DevChain } from "../../../src/dev/dev-chain.ts";
import { DevExecutionEngine } from "../../../src/execution/dev-engine.ts";
import type { ExecutionEngine } from "../../../src/execution/engine.ts";
import { createLogger } from "../../../src/log/pino-logger.ts";
import { createRememberingVerifier } from "../bls/remembering-verifier.ts";

/** A chain with its own database and clock that imports the blocks of a dev chain. */
export function openFollower(
  db: BeaconDb,
  { config, chain }: Pick<DevChain, "config" | "chain">,
  slot: Slot,
  engine: ExecutionEngine = new DevExecutionEngine(),
): Promise<BeaconChain> {
  const clock = new VirtualClock({
    genesisTime: chain.genesis.time,
    secondsPerSlot: config.SECONDS_PER_SLOT,
    startSlot: slot,
    speed: 1,
    onListenerError: (error) => {
      throw error;
    },
  });
  const { logger } = createLogger({ format: "text", spec: "FATAL", destination: { write: () => {} } });
  return BeaconChain.open({
    settings: DEFAULT_CHAIN_SETTINGS,
    config,
    db,
    clock,
    engine,
    createVerifier: createRememberingVerifier,
    logger,
  });
}
