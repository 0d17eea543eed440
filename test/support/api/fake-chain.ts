import { processSlots } from "@lodestar/state-transition";
import { type RootHex, type SignedBeaconBlock, ssz } from "@lodestar/types";
import { fromHex, toRootHex } from "@lodestar/utils";
import type { ChainView } from "../../../src/api/chain-view.ts";
import { genesisBlock as genesisBlockOf, latestBlockHeader } from "../../../src/chain/anchor/anchor.ts";
import type { ChainBlock } from "../../../src/chain/blocks/block-store.ts";
import type { BeaconChain } from "../../../src/chain/chain.ts";
import type { Clock } from "../../../src/chain/clock/clock.ts";
import { Eth1Proposals } from "../../../src/chain/eth1/eth1-proposals.ts";
import type { Checkpoint, ForkChoiceBlock, ForkChoiceExecution } from "../../../src/chain/fork-choice/types.ts";
import type { LightClientServer } from "../../../src/chain/light-client/light-client-server.ts";
import { Pools } from "../../../src/chain/pools/pools.ts";
import { devChainConfig } from "../../../src/dev/chain-config.ts";
import type { ScheduledFork } from "../../../src/dev/forks.ts";
import { createDevGenesis } from "../../../src/dev/genesis.ts";
import type { DepositChain } from "../../../src/execution/eth1/deposit-chain.ts";
import { DepositTreeSnapshotType } from "../../../src/execution/eth1/deposit-snapshot.ts";
import { LocalNode } from "../../../src/network/local-node.ts";
import { type NetworkView, offlineNetworkView } from "../../../src/network/network-view.ts";

export const GENESIS_TIME = 1_700_000_000;
const SLOT_SECONDS = 6;
export const HEAD_SLOT = 4;
export const CURRENT_SLOT = 6;

const slotStart = (slot: number) => GENESIS_TIME + slot * SLOT_SECONDS;

type Writable<T> = { -readonly [K in keyof T]: T[K] };

export interface FakeChain extends ChainView {
  readonly clock: Pick<
    Clock,
    "currentSlot" | "genesisTime" | "secondsPerSlot" | "speed" | "nowSeconds" | "offsetSeconds" | "slotStartSeconds"
  >;
  readonly genesisRoot: RootHex;
  readonly sideRoot: RootHex;
  readonly finalized: Writable<Checkpoint>;
  readonly status: Writable<ChainView["status"]>;
  execution: ForkChoiceExecution;
}

/**
 * Creates a chain for handler tests, without signatures and imports: genesis, two competing blocks at slot 4 and real
 * states. Slots 1 to 3 are empty, and the clock is at slot 6.
 */
export function createFakeChain(forks: readonly ScheduledFork[] = [{ fork: "fulu", epoch: 0 }]): FakeChain {
  const chainConfig = devChainConfig({ forks, slotSeconds: SLOT_SECONDS, genesisTime: GENESIS_TIME });
  const genesis = createDevGenesis({ chainConfig, validatorCount: 16, genesisTime: GENESIS_TIME });
  const { config } = genesis;
  const genesisRoot = toRootHex(ssz.phase0.BeaconBlockHeader.hashTreeRoot(latestBlockHeader(genesis.state)));

  const chainBlock = (slot: number, edit: (signed: SignedBeaconBlock) => void, canonical: boolean): ChainBlock => {
    const types = config.getForkTypes(slot);
    const signed = types.SignedBeaconBlock.defaultValue() as SignedBeaconBlock;
    signed.message.slot = slot;
    edit(signed);
    const root = toRootHex(types.BeaconBlock.hashTreeRoot(signed.message));
    return { root, slot, signed, canonical, finalized: slot === 0, executionOptimistic: false };
  };

  const headState = processSlots(genesis.state, HEAD_SLOT);
  const genesisBlock = chainBlock(0, (signed) => Object.assign(signed, genesisBlockOf(config, genesis.state)), true);
  const childOfGenesis = (proposerIndex: number, canonical: boolean) =>
    chainBlock(
      HEAD_SLOT,
      (signed) => {
        signed.message.proposerIndex = proposerIndex;
        signed.message.parentRoot = fromHex(genesisRoot);
        signed.message.stateRoot = headState.hashTreeRoot();
        signed.signature = new Uint8Array(96).fill(proposerIndex);
        const attestation = config.getForkTypes(HEAD_SLOT).Attestation.defaultValue();
        signed.message.body.attestations = [attestation] as typeof signed.message.body.attestations;
      },
      canonical,
    );
  const headBlock = childOfGenesis(3, true);
  const sideBlock = childOfGenesis(5, false);
  const blocks = [genesisBlock, headBlock, sideBlock];
  const states = [genesis.state, headState];

  const finalized = { epoch: 0, root: genesisRoot };
  let graffiti: Uint8Array = new Uint8Array(32);
  const chain: FakeChain = {
    genesisRoot,
    sideRoot: sideBlock.root,
    finalized,
    execution: { status: "pre-merge" },
    config,
    clock: {
      currentSlot: CURRENT_SLOT,
      genesisTime: GENESIS_TIME,
      secondsPerSlot: SLOT_SECONDS,
      speed: 1,
      nowSeconds: () => slotStart(CURRENT_SLOT),
      offsetSeconds: () => 0,
      slotStartSeconds: slotStart,
    },
    genesis: { time: GENESIS_TIME, validatorsRoot: genesis.state.genesisValidatorsRoot },
    headState,
    get head() {
      return forkChoiceBlock(headBlock);
    },
    forkChoice: {
      justified: finalized,
      finalized,
      all: () => blocks.map(forkChoiceBlock),
      weightOf: () => 0,
      payloadStatusOf: () => "empty",
      // The head state did not process the head block, so its latest block is genesis.
      get: (root) => blocks.filter((block) => block.root === root).map(forkChoiceBlock)[0],
      leaves: () => [forkChoiceBlock(headBlock), forkChoiceBlock(sideBlock)],
    },
    justifiedCheckpoint: finalized,
    finalizedCheckpoint: finalized,
    payloads: { isOptimistic: () => chain.execution.status === "optimistic" },
    blocks: {
      byRoot: async (root) => blocks.find((block) => block.root === root) ?? null,
      positionOf: async (root) => blocks.find((block) => block.root === root) ?? null,
      atSlot: async (slot) => blocks.filter((block) => block.slot === slot),
      childrenOf: async (root) =>
        blocks.filter(({ slot, signed }) => slot > 0 && toRootHex(signed.message.parentRoot) === root).reverse(),
      rootAtSlot: async (slot) => blocks.find((block) => block.slot === slot && block.canonical)?.root ?? null,
      rootAtOrBefore: async () => genesisRoot,
    },
    states: {
      canonicalAtSlot: async (slot) => (slot === 0 ? genesis.state : processSlots(genesis.state, slot)),
      knownRootAtSlot: async () => null,
      byRoot: async (root) => states.find((state) => toRootHex(state.hashTreeRoot()) === root) ?? null,
      afterBlock: async (_root, slot = 0) => (slot === 0 ? genesis.state : processSlots(genesis.state, slot)),
      atCheckpoint: async ({ epoch }) => (epoch === 0 ? genesis.state : processSlots(genesis.state, epoch * 8)),
      genesis: async () => genesis.state,
    },
    status: { isSyncing: false, syncDistance: 0, isOptimistic: false, executionOffline: false },
    graffiti: {
      get: () => graffiti,
      set: (bytes) => {
        graffiti = bytes;
      },
    },
  };

  function forkChoiceBlock({ root, slot, signed }: ChainBlock): ForkChoiceBlock {
    return {
      slot,
      root,
      parentRoot: toRootHex(signed.message.parentRoot),
      stateRoot: toRootHex(signed.message.stateRoot),
      targetRoot: genesisRoot,
      justified: finalized,
      finalized,
      unrealizedJustified: finalized,
      unrealizedFinalized: finalized,
      execution: chain.execution,
    };
  }
  return chain;
}

/** Casts the view to a chain for read handlers. Other handlers only find the members that they access when created. */
export function asBeaconChain(view: ChainView): BeaconChain {
  const lightClient = lightClientOf(view);
  const eth1 = new Eth1Proposals(NO_DEPOSITS as DepositChain);
  return Object.assign(view, { pools: new Pools(), processor: {}, lightClient, eth1 }) as unknown as BeaconChain;
}

/** Deposit chain without deposits. */
const NO_DEPOSITS: Pick<DepositChain, "blocks" | "newest" | "snapshot" | "blocksWithDeposits"> = {
  blocks: [],
  newest: undefined,
  snapshot: DepositTreeSnapshotType.defaultValue(),
  blocksWithDeposits: async () => [],
};

/** Light client server with default updates of the chain's fork. */
function lightClientOf({ config }: ChainView): Pick<LightClientServer, "finalityUpdate" | "optimisticUpdate"> {
  const types = () => config.getPostAltairForkTypes(HEAD_SLOT);
  return {
    finalityUpdate: async () => types().LightClientFinalityUpdate.defaultValue(),
    optimisticUpdate: async () => types().LightClientOptimisticUpdate.defaultValue(),
  };
}

/** Creates the view of a network without peers. */
export function fakeNetwork({ config, clock }: ChainView): NetworkView {
  return offlineNetworkView(new LocalNode({ key: new Uint8Array(32).fill(1), config, clock }));
}
