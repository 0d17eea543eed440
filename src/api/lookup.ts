import type { routes } from "@lodestar/api";
import { type ForkName, GENESIS_SLOT } from "@lodestar/params";
import { type CachedBeaconStateAllForks, computeStartSlotAtEpoch } from "@lodestar/state-transition";
import type { RootHex, Slot } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import type { BlockPosition, ChainBlock } from "../chain/blocks/block-store.ts";
import { latestBlock } from "../chain/states/latest-block.ts";
import { type StateRequest, StateUnavailableError } from "../chain/states/state-store.ts";
import { type Failure, invalidParams, notFound } from "../errors/failure.ts";
import type { ChainView } from "./chain-view.ts";
import type { CallContext } from "./definition.ts";

type StateId = routes.beacon.StateId;
type BlockId = routes.beacon.BlockId;

/** Metadata for a state or block. */
export interface StateMeta {
  executionOptimistic: boolean;
  finalized: boolean;
}

export interface VersionedMeta extends StateMeta {
  version: ForkName;
}

export const metaOf = ({ executionOptimistic, finalized }: StateMeta): StateMeta => ({
  executionOptimistic,
  finalized,
});

/** Returns the metadata, including the fork of the slot. */
export function versionedMetaOf({ config }: Pick<ChainView, "config">, slot: Slot, meta: StateMeta): VersionedMeta {
  return { ...metaOf(meta), version: config.getForkName(slot) };
}

export interface ResolvedState extends StateMeta {
  state: CachedBeaconStateAllForks;
}

/** Returns a state by id. Throws a "not found" `Failure` if there is no such state. */
export async function resolveState(chain: ChainView, stateId: StateId, call?: CallContext): Promise<ResolvedState> {
  const resolved = await findState(chain, stateId, call);
  if (resolved === null) throw unknown(chain, "state", stateId);
  return resolved;
}

/** Returns a state by id, or null if there is no such state. */
export async function findState(chain: ChainView, stateId: StateId, call?: CallContext): Promise<ResolvedState | null> {
  // Fast path for the state that is requested most often.
  const state =
    stateId === "head"
      ? chain.headState
      : await lookUpState(chain, stateId, { waiting: call }).catch(nullIfUnavailable);
  if (state === null) return null;
  const meta = metaOfState(chain, state.slot, latestBlock(state));
  // Avoids an await if the metadata is known synchronously.
  const { executionOptimistic, finalized } = meta instanceof Promise ? await meta : meta;
  return { state, executionOptimistic, finalized };
}

/** Returns the hash tree root of a state, without loading the state if possible. */
export async function resolveStateRoot(
  chain: ChainView,
  stateId: StateId,
  call?: CallContext,
): Promise<StateMeta & { root: Uint8Array }> {
  const isOldSlot = typeof stateId !== "string" && stateId <= lastSlotWithState(chain);
  const storedState = isOldSlot ? await chain.states.knownRootAtSlot(stateId) : null;
  if (isOldSlot && storedState) {
    return { root: fromHex(storedState.stateRoot), ...(await metaOfState(chain, stateId, storedState.block)) };
  }
  const { state, ...meta } = await resolveState(chain, stateId, call);
  return { root: state.hashTreeRoot(), ...meta };
}

/** Returns the metadata for a state, given its slot and latest block. */
function metaOfState(
  chain: ChainView,
  slot: Slot,
  block: ReturnType<typeof latestBlock>,
): StateMeta | Promise<StateMeta> {
  const metaWhen = (finalized: boolean): StateMeta => ({
    executionOptimistic: chain.payloads.isOptimistic(block, { isFinalized: finalized }),
    finalized,
  });
  const isFinalized = isFinalizedState(chain, slot, block.root);
  return typeof isFinalized === "boolean" ? metaWhen(isFinalized) : isFinalized.then(metaWhen);
}

/** Returns a block by id. Throws a "not found" `Failure` if there is no such block. */
export async function resolveBlock(chain: ChainView, blockId: BlockId): Promise<ChainBlock> {
  return found(chain, await findBlock(chain, blockId), blockId);
}

/** Returns a block's slot and root. Works for stored blocks and for the anchor block. */
export async function resolveBlockPosition(chain: ChainView, blockId: BlockId): Promise<BlockPosition> {
  const root = await rootOfBlock(chain, blockId);
  return found(chain, root === null ? null : await chain.blocks.positionOf(root), blockId);
}

/** Returns a block by id, or null if there is no such block. */
export async function findBlock(chain: ChainView, blockId: BlockId): Promise<ChainBlock | null> {
  const root = await rootOfBlock(chain, blockId);
  return root === null ? null : chain.blocks.byRoot(root);
}

function found<Block>(chain: ChainView, block: Block | null, blockId: BlockId): Block {
  if (block === null) throw unknown(chain, "block", blockId);
  return block;
}

async function rootOfBlock(chain: ChainView, blockId: BlockId): Promise<RootHex | null> {
  if (typeof blockId !== "string") return blockId > chain.head.slot ? null : chain.blocks.rootAtSlot(blockId);
  if (blockId.startsWith("0x")) return blockId;
  switch (blockId) {
    case "head":
      return chain.head.root;
    case "genesis":
      return chain.blocks.rootAtSlot(GENESIS_SLOT);
    case "finalized":
      return chain.forkChoice.finalized.root;
    default:
      throw invalidParams(`Unknown block id ${JSON.stringify(blockId)}.`);
  }
}

async function lookUpState(
  chain: ChainView,
  stateId: StateId,
  request: StateRequest,
): Promise<CachedBeaconStateAllForks | null> {
  if (typeof stateId !== "string") {
    return stateId > lastSlotWithState(chain) ? null : chain.states.canonicalAtSlot(stateId, request);
  }
  if (stateId.startsWith("0x")) return chain.states.byRoot(stateId, request);
  switch (stateId) {
    case "genesis":
      return chain.states.genesis();
    case "finalized":
      return chain.states.atCheckpoint(chain.forkChoice.finalized, request);
    case "justified":
      return chain.states.atCheckpoint(chain.forkChoice.justified, request);
    default:
      throw invalidParams(`Unknown state id ${JSON.stringify(stateId)}.`);
  }
}

/**
 * Returns the last slot that has a state. The slots between the head and the clock count as empty, except on a syncing
 * node, which does not know them yet.
 */
function lastSlotWithState({ status, head, clock }: ChainView): Slot {
  return status.isSyncing ? head.slot : Math.max(clock.currentSlot, head.slot);
}

/** Returns null if the state is older than the node's history. */
function nullIfUnavailable(error: unknown): null {
  if (error instanceof StateUnavailableError) return null;
  throw error;
}

export const latestBlockRoot = (state: CachedBeaconStateAllForks): RootHex => latestBlock(state).root;

/** Returns true for states on the canonical chain up to the finalized checkpoint. */
function isFinalizedState(chain: ChainView, slot: Slot, blockRoot: RootHex): boolean | Promise<boolean> {
  const { finalized } = chain.forkChoice;
  if (slot <= computeStartSlotAtEpoch(finalized.epoch)) {
    return chain.blocks.rootAtOrBefore(slot).then((root) => root === blockRoot);
  }
  if (blockRoot !== finalized.root) return false;
  // This happens only if the chain was started from a state later in that epoch.
  return chain.states.atCheckpoint(finalized).then((state) => slot <= state.slot);
}

function unknown({ clock, head }: ChainView, noun: "state" | "block", id: StateId | BlockId): Failure {
  if (typeof id !== "string" && id > Math.max(clock.currentSlot, head.slot)) {
    return notFound(
      `Slot ${id} is in the future: the head is at slot ${head.slot}. On a dev chain, dev_advance gets there.`,
    );
  }
  // The genesis block and state are missing only on a chain that was started from a later state.
  const isGenesis = id === "genesis" || id === GENESIS_SLOT;
  const reason = isGenesis
    ? " It was started from a later one, and the genesis state of its network is not available."
    : "";
  return notFound(`No ${noun} for ${describeId(id)}.${reason}`);
}

function describeId(id: StateId | BlockId): string {
  return typeof id === "string" ? id : `slot ${id}`;
}

/**
 * Returns the slot or the root given in a call's parameters. Throws unless exactly one of them is given. `Id` is a
 * slot, or a type that includes other identifiers as well.
 */
export function slotOrRoot<Id>(method: string, { slot, root }: { slot?: Id; root?: RootHex }): Id | RootHex {
  if (slot !== undefined && root !== undefined) {
    throw invalidParams(`${method} takes a slot or a root, but both were given.`);
  }
  const id = slot ?? root;
  if (id === undefined) throw invalidParams(`${method} takes a slot or a root, but neither was given.`);
  return id;
}
