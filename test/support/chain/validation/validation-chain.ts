import type { SecretKey } from "@chainsafe/blst";
import type { BeaconConfig } from "@lodestar/config";
import { DOMAIN_BEACON_PROPOSER, SLOTS_PER_EPOCH } from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  computeEpochAtSlot,
  computeSigningRoot,
  computeStartSlotAtEpoch,
  processSlots,
} from "@lodestar/state-transition";
import { type BeaconBlock, type RootHex, type SignedBeaconBlock, type Slot, ssz } from "@lodestar/types";
import { fromHex, toRootHex } from "@lodestar/utils";
import { type BlsVerifier, createBlsVerifier } from "../../../../src/bls/verifier.ts";
import { ForkChoice } from "../../../../src/chain/fork-choice/fork-choice.ts";
import type { Checkpoint } from "../../../../src/chain/fork-choice/types.ts";
import { InvalidBlockRoots } from "../../../../src/chain/import/invalid-block-roots.ts";
import { OperationPool } from "../../../../src/chain/pools/operation-pool.ts";
import {
  SeenAggregates,
  SeenAggregators,
  SeenAttesters,
  SeenBlockProposers,
  SeenContributions,
  SeenSidecars,
  SeenSyncMessages,
} from "../../../../src/chain/pools/seen.ts";
import { SeenPayloads } from "../../../../src/chain/pools/seen-payloads.ts";
import { AttachedValidators } from "../../../../src/chain/subscriptions/attached-validators.ts";
import type { SeenCaches, ValidationContext } from "../../../../src/chain/validation/context.ts";
import { DuplicateKeys } from "../../../../src/chain/validation/duplicate-keys.ts";
import { GossipValidationError, type Outcome } from "../../../../src/chain/validation/outcome.ts";
import { VerifiedHeaders } from "../../../../src/chain/validation/verified-headers.ts";
import { devChainConfig } from "../../../../src/dev/chain-config.ts";
import type { DevFork } from "../../../../src/dev/forks.ts";
import { createDevGenesis, type DevGenesis } from "../../../../src/dev/genesis.ts";
import type { DevKeys } from "../../../../src/dev/validator-keys.ts";
import { FakeKzg } from "../../data/kzg/fake-kzg.ts";
import { createRecordingLogger } from "../../log/recording-logger.ts";
import { ManualClock } from "../clock/manual-clock.ts";
import { applyUnchecked, emptyBlock } from "../made-block.ts";

const GENESIS_TIME = 1_700_000_000;
const SECONDS_PER_SLOT = 6;
const VALIDATOR_COUNT = 64;

const geneses = new Map<DevFork, DevGenesis>();

/** Shared by all chains of a test file: genesis states are not modified. */
function genesisOf(fork: DevFork): DevGenesis {
  const made = geneses.get(fork);
  if (made) return made;
  const genesis = createDevGenesis({
    chainConfig: devChainConfig({
      forks: fork === "phase0" ? [] : [{ fork, epoch: 0 }],
      slotSeconds: SECONDS_PER_SLOT,
      genesisTime: GENESIS_TIME,
    }),
    validatorCount: VALIDATOR_COUNT,
    genesisTime: GENESIS_TIME,
  });
  geneses.set(fork, genesis);
  return genesis;
}

interface ProducedBlock {
  signed: SignedBeaconBlock;
  root: RootHex;
}

/** A real in-memory chain of 64 validators with all keys, and its validation context. */
export class TestChain {
  readonly config: BeaconConfig;
  readonly keys: DevKeys;
  readonly clock = new ManualClock(GENESIS_TIME, SECONDS_PER_SLOT);
  readonly forkChoice: ForkChoice;
  readonly operations = new OperationPool();
  readonly kzg = new FakeKzg();
  readonly attached = new AttachedValidators(this.clock);
  readonly logger = createRecordingLogger();
  readonly context: ValidationContext;
  readonly genesisRoot: RootHex;
  readonly #bls: BlsVerifier;
  readonly #seen: SeenCaches = {
    attesters: new SeenAttesters(),
    aggregators: new SeenAggregators(),
    aggregates: new SeenAggregates(),
    blockProposers: new SeenBlockProposers(),
    syncMessages: new SeenSyncMessages(),
    contributions: new SeenContributions(),
    sidecars: new SeenSidecars(),
    payloads: new SeenPayloads(),
  };
  readonly #postStates = new Map<RootHex, CachedBeaconStateAllForks>();
  headRoot: RootHex;

  constructor(fork: DevFork) {
    const genesis = genesisOf(fork);
    this.config = genesis.config;
    this.keys = genesis.keys;
    this.#bls = createBlsVerifier({ pubkeyCache: genesis.pubkeyCache, threads: 1 });

    const header = ssz.phase0.BeaconBlockHeader.clone(genesis.state.latestBlockHeader);
    header.stateRoot = genesis.state.hashTreeRoot();
    this.genesisRoot = toRootHex(ssz.phase0.BeaconBlockHeader.hashTreeRoot(header));
    this.headRoot = this.genesisRoot;
    this.#postStates.set(this.genesisRoot, genesis.state);
    const checkpoint = { epoch: 0, root: this.genesisRoot };
    this.forkChoice = ForkChoice.fromAnchor({
      config: this.config,
      currentSlot: 0,
      anchor: {
        slot: 0,
        root: this.genesisRoot,
        parentRoot: toRootHex(header.parentRoot),
        stateRoot: toRootHex(header.stateRoot),
        targetRoot: this.genesisRoot,
        justified: checkpoint,
        finalized: checkpoint,
        unrealizedJustified: checkpoint,
        unrealizedFinalized: checkpoint,
        execution: { status: "pre-merge" },
      },
      checkpoint,
      balances: new Uint16Array(VALIDATOR_COUNT).fill(32),
    });
    this.context = this.#createContext();
  }

  close(): Promise<void> {
    return this.#bls.close();
  }

  get headState(): CachedBeaconStateAllForks {
    return this.stateAfter(this.headRoot);
  }

  stateAfter(root: RootHex): CachedBeaconStateAllForks {
    const state = this.#postStates.get(root);
    if (!state) throw new Error(`The test chain has no block ${root}.`);
    return state;
  }

  /** The block's post-state advanced to the slot. */
  advanced(root: RootHex, slot: Slot): CachedBeaconStateAllForks {
    const state = this.stateAfter(root);
    return state.slot < slot ? processSlots(state, slot) : state;
  }

  key(index: number): SecretKey {
    const key = this.keys.secretKey(index);
    if (!key) throw new Error(`The test chain has no validator ${index}.`);
    return key;
  }

  sign(index: number, signingRoot: Uint8Array): Uint8Array {
    return this.key(index).sign(signingRoot).toBytes();
  }

  /** Signs with the proposer's key. */
  signBlock(block: BeaconBlock): ProducedBlock {
    const type = this.config.getForkTypes(block.slot).BeaconBlock;
    const domain = this.config.getDomain(block.slot, DOMAIN_BEACON_PROPOSER, block.slot);
    const signature = this.sign(block.proposerIndex, computeSigningRoot(type, block, domain));
    return { signed: { message: block, signature }, root: toRootHex(type.hashTreeRoot(block)) };
  }

  /** A valid block without attestations. `change` runs before signing and may make it invalid. */
  produce(slot: Slot, { parent = this.headRoot, change = (_: BeaconBlock) => {} } = {}): ProducedBlock {
    const preState = this.advanced(parent, slot);
    const block = emptyBlock(preState, fromHex(parent), (index, signingRoot) => this.sign(index, signingRoot));
    block.stateRoot = applyUnchecked(preState, block).hashTreeRoot();
    // Copied, because the library caches the root of a hashed body.
    const changed = this.config.getForkTypes(slot).BeaconBlock.clone(block) as BeaconBlock;
    change(changed);
    return this.signBlock(changed);
  }

  /** Produces a block that becomes the head and moves the clock to its slot. */
  extend(slot: Slot, options: { parent?: RootHex; finalized?: Checkpoint; graffiti?: number } = {}): RootHex {
    const { parent = this.headRoot, finalized, graffiti = 0 } = options;
    const preState = this.advanced(parent, slot);
    const block = emptyBlock(preState, fromHex(parent), (index, signingRoot) => this.sign(index, signingRoot));
    block.body.graffiti = new Uint8Array(32).fill(graffiti);
    const postState = applyUnchecked(preState, block);
    block.stateRoot = postState.hashTreeRoot();
    const { root } = this.signBlock(block);
    this.#postStates.set(root, postState);

    const checkpoint = finalized ?? this.forkChoice.finalized;
    const epochStart = computeStartSlotAtEpoch(computeEpochAtSlot(slot));
    this.clock.set(slot);
    this.forkChoice.onTick(slot);
    this.forkChoice.onBlock(
      {
        slot,
        root,
        parentRoot: parent,
        stateRoot: toRootHex(block.stateRoot),
        targetRoot: slot === epochStart ? root : (this.forkChoice.ancestorAtSlot(parent, epochStart) ?? parent),
        justified: checkpoint,
        finalized: checkpoint,
        unrealizedJustified: checkpoint,
        unrealizedFinalized: checkpoint,
        execution:
          "executionPayload" in block.body
            ? {
                status: "optimistic",
                blockHash: toRootHex(block.body.executionPayload.blockHash),
                blockNumber: block.body.executionPayload.blockNumber,
              }
            : { status: "pre-merge" },
      },
      { timely: false },
    );
    this.headRoot = root;
    return root;
  }

  /** Attestation data at the slot with the given block as head. */
  voteData(slot: Slot, index: number, head: RootHex = this.headRoot) {
    const epoch = computeEpochAtSlot(slot);
    const target = this.forkChoice.ancestorAtSlot(head, epoch * SLOTS_PER_EPOCH);
    if (target === undefined) throw new Error(`The test chain has no target for epoch ${epoch}.`);
    const source = this.stateAfter(head).currentJustifiedCheckpoint;
    return {
      slot,
      index,
      beaconBlockRoot: fromHex(head),
      source: { epoch: source.epoch, root: source.root },
      target: { epoch, root: fromHex(target) },
    };
  }

  #createContext(): ValidationContext {
    const chain = this;
    return {
      config: this.config,
      clock: this.clock,
      forkChoice: this.forkChoice,
      blocks: { link: async () => null, signedByRoot: async () => null },
      bls: this.#bls,
      kzg: this.kzg,
      invalidBlocks: new InvalidBlockRoots(),
      seen: this.#seen,
      signedHeaders: new VerifiedHeaders(),
      headersOnDuty: new VerifiedHeaders(),
      operations: this.operations,
      duplicates: new DuplicateKeys({ attached: this.attached, clock: this.clock, logger: this.logger }),
      states: {
        get head() {
          return chain.headState;
        },
        shuffling: async (root, epoch) =>
          chain.advanced(root, computeStartSlotAtEpoch(epoch)).epochCtx.getShufflingAtEpoch(epoch),
        preState: async (parentRoot, slot) => chain.advanced(parentRoot, slot),
        ofBlock: async (root) => chain.stateAfter(root),
      },
      payloadGasLimit: async () => undefined,
    };
  }
}

/** The `GossipValidationError` with which the promise rejects; fails if it resolves. */
export async function refusalOf(promise: Promise<unknown>): Promise<GossipValidationError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof GossipValidationError) return error;
    throw error;
  }
  throw new Error("The object was accepted.");
}

/** Outcomes as strings for expectations: "ok", or action and reason. */
export function summarize(outcomes: readonly Outcome<unknown>[]): string[] {
  return outcomes.map((outcome) => {
    if (outcome.ok) return "ok";
    const { action, reason, known } = outcome.refusal;
    return known ? `known (${action}, ${reason})` : `${action} ${reason}`;
  });
}

/** Faults of a proposal, in a block or a sidecar. */
export const PROPOSAL_FAULTS: readonly [reason: string, action: string, change: (block: BeaconBlock) => void][] = [
  ["unknown-parent", "ignore", (block) => block.parentRoot.fill(7)],
  [
    "wrong-proposer",
    "reject",
    (block) => {
      block.proposerIndex = (block.proposerIndex + 1) % 64;
    },
  ],
  [
    "slot-not-after-parent",
    "reject",
    (block) => {
      block.slot = 1;
    },
  ],
];
