import type { Slot } from "@lodestar/types";
import { onTestFinished } from "vitest";
import { initialiseDatabase } from "../../../../src/chain/anchor/anchor.ts";
import { BeaconChain } from "../../../../src/chain/chain.ts";
import { VirtualClock } from "../../../../src/chain/clock/virtual-clock.ts";
import type { CustodyOptions } from "../../../../src/chain/data/custody.ts";
import { DEFAULT_CHAIN_SETTINGS } from "../../../../src/chain/settings.ts";
import type { BeaconDb } from "../../../../src/db/beacon-db.ts";
import { createMemoryDatabase } from "../../../../src/db/open-database.ts";
import type { DevChain } from "../../../../src/dev/dev-chain.ts";
import { DevExecutionEngine } from "../../../../src/execution/dev-engine.ts";
import { createRememberingVerifier } from "../../bls/remembering-verifier.ts";
import { tempDirectory } from "../../directories/temp-directory.ts";
import { createRecordingLogger } from "../../log/recording-logger.ts";

interface AnchoredChain {
  chain: BeaconChain;
  db: BeaconDb;
  /** Closes the chain and opens it again from its database. */
  reopen(): Promise<BeaconChain>;
}

interface AnchorOptions {
  /** Provides the anchor block with the state. */
  withBlock?: boolean;
  /** Provides the genesis state. */
  knowsGenesis?: boolean;
  custody?: CustodyOptions;
}

/** Opens a chain from the state of a slot of another chain. */
export async function openAnchoredAt(
  slot: Slot,
  source: Pick<DevChain, "config" | "chain">,
  { withBlock = true, knowsGenesis = true, custody }: AnchorOptions = {},
): Promise<AnchoredChain> {
  const { config, chain: whole } = source;
  const db = await createMemoryDatabase(tempDirectory());
  onTestFinished(() => db.close());
  const block = (await whole.blocks.canonicalAtSlot(slot))!;
  const state = await whole.states.afterBlock(block.root, slot);
  await initialiseDatabase(db, config, { state, block: withBlock ? block.signed : undefined }, {});
  const clock = new VirtualClock({
    genesisTime: whole.genesis.time,
    secondsPerSlot: config.SECONDS_PER_SLOT,
    startSlot: slot,
    speed: 1,
    onListenerError: (error) => {
      throw error;
    },
  });
  const readGenesisState = knowsGenesis ? () => whole.states.genesis() : undefined;
  const open = () =>
    BeaconChain.open({
      settings: DEFAULT_CHAIN_SETTINGS,
      config,
      db,
      clock,
      engine: new DevExecutionEngine(),
      logger: createRecordingLogger(),
      readGenesisState,
      createVerifier: createRememberingVerifier,
      custody,
    });
  let chain = await open();
  onTestFinished(() => chain.close());
  const reopen = async () => {
    await chain.close();
    chain = await open();
    return chain;
  };
  return { chain, db, reopen };
}
