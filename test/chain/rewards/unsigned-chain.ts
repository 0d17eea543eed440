import {
  type CachedBeaconStateAllForks,
  DataAvailabilityStatus,
  ExecutionPayloadStatus,
  processSlots,
  stateTransition,
} from "@lodestar/state-transition";
import {
  type BeaconBlock,
  type BeaconBlockBody,
  type RootHex,
  type SignedBeaconBlock,
  type Slot,
  ssz,
} from "@lodestar/types";
import { fromHex, toRootHex } from "@lodestar/utils";
import type { Api } from "../../../src/api/api.ts";
import type { ChainView } from "../../../src/api/chain-view.ts";
import { latestBlockHeader } from "../../../src/chain/anchor/anchor.ts";
import type { ChainBlock } from "../../../src/chain/blocks/block-store.ts";
import type { DevGenesis } from "../../../src/dev/genesis.ts";

type State = CachedBeaconStateAllForks;

/** States and block of one slot. */
export interface Step {
  /** The state of the slot before. */
  before: State;
  /** The state of the slot without its block. */
  atSlot: State;
  after: State;
  block?: SignedBeaconBlock;
}

/**
 * Chain without signatures and their verification, which makes blocks cheap. Serves block and state lookups of the API.
 * Its clock is in the slot after the last.
 */
export class UnsignedChain {
  readonly #config: DevGenesis["config"];
  readonly #genesisRoot: RootHex;
  readonly #states: State[];
  readonly #blocks = new Map<Slot, ChainBlock>();
  readonly #blocksByRoot = new Map<RootHex, ChainBlock>();
  #lastStep: Step | undefined;

  constructor({ config, state }: Pick<DevGenesis, "config" | "state">) {
    this.#config = config;
    this.#genesisRoot = blockRootOf(state);
    this.#states = [state];
  }

  /** Advances by a slot, which stays empty without a body. */
  step(makeBody: (atSlot: State) => BeaconBlockBody | null): Step {
    const before = this.#states.at(-1)!;
    const atSlot = processSlots(before, before.slot + 1);
    const body = makeBody(atSlot);
    const step = body === null ? { before, atSlot, after: atSlot } : { before, atSlot, ...this.#apply(atSlot, body) };
    this.#states.push(step.after);
    this.#lastStep = step;
    return step;
  }

  #apply(state: State, body: BeaconBlockBody): Pick<Step, "after" | "block"> {
    const { slot } = state;
    const message = {
      slot,
      proposerIndex: state.epochCtx.getBeaconProposer(slot),
      parentRoot: fromHex(blockRootOf(state)),
      stateRoot: ssz.Root.defaultValue(),
      body,
    } as BeaconBlock;
    const signed = { message, signature: ssz.BLSSignature.defaultValue() } as SignedBeaconBlock;
    const after = stateTransition(state, signed, {
      verifyStateRoot: false,
      verifyProposer: false,
      verifySignatures: false,
      executionPayloadStatus: ExecutionPayloadStatus.valid,
      dataAvailabilityStatus: DataAvailabilityStatus.Available,
    });
    message.stateRoot = after.hashTreeRoot();
    const root = blockRootOf(after);
    const block = { root, slot, signed, canonical: true, finalized: false, executionOptimistic: false };
    this.#blocks.set(slot, block);
    this.#blocksByRoot.set(root, block);
    return { after, block: signed };
  }

  /** API whose methods may only look up blocks and states. */
  get api(): Api {
    return { context: { chain: this.#view() } } as unknown as Api;
  }

  #view(): Partial<ChainView> {
    const states = this.#states;
    return {
      config: this.#config,
      clock: {
        get currentSlot() {
          return states.length;
        },
      },
      get head() {
        return { slot: states.length - 1 } as ChainView["head"];
      },
      status: { isSyncing: false, syncDistance: 0, isOptimistic: false, executionOffline: false },
      forkChoice: {
        finalized: { epoch: 0, root: this.#genesisRoot },
        get: () => undefined,
      } as unknown as ChainView["forkChoice"],
      payloads: { isOptimistic: () => false },
      blocks: {
        rootAtSlot: async (slot: Slot) => this.#blocks.get(slot)?.root ?? null,
        byRoot: async (root: RootHex) => this.#blocksByRoot.get(root) ?? null,
        rootAtOrBefore: async () => this.#genesisRoot,
      } as unknown as ChainView["blocks"],
      states: {
        canonicalAtSlot: async (slot: Slot) => states[slot] ?? null,
        afterBlock: async (root: RootHex, slot: Slot) => this.#stateAfter(root, slot),
      } as unknown as ChainView["states"],
    };
  }

  /** Only the state of the last step is available, since rewards are requested after each step. */
  #stateAfter(root: RootHex, slot: Slot): State {
    const atSlot = this.#lastStep?.atSlot;
    if (atSlot?.slot !== slot || blockRootOf(atSlot) !== root) throw new Error(`Slot ${slot} is not the last one.`);
    return atSlot;
  }
}

/** The root of the last block that the state has processed. */
function blockRootOf(state: State): RootHex {
  return toRootHex(ssz.phase0.BeaconBlockHeader.hashTreeRoot(latestBlockHeader(state)));
}
