import type { routes } from "@lodestar/api";
import { computeStartSlotAtEpoch } from "@lodestar/state-transition";
import type { phase0, RootHex } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { ChainBlock } from "../chain/blocks/block-store.ts";
import { invalidParams } from "../errors.ts";
import { LogSpecError } from "../log/log-spec.ts";
import type { SyncView } from "../sync/sync.ts";
import type { ChainView } from "./chain-view.ts";
import { findBlock, findState, type ResolvedState } from "./identifiers.ts";

export interface ChainHead {
  head_slot: string;
  head_block_root: RootHex;
  finalized_slot: string;
  finalized_block_root: RootHex;
  justified_slot: string;
  justified_block_root: RootHex;
}

/** The historical pair: a slot or a root, never both. Whatever else is an identifier may stand in the slot's place. */
export interface SlotOrRoot<Id> {
  slot?: Id;
  root?: RootHex;
}

/** The methods outside the standard, which have JSON results of their own. */
export interface ExtensionsApi {
  getBeaconHead(): string;
  getChainHead(): ChainHead;
  getNodeVersion(): string;
  getSyncing(): boolean;
  getBeaconBlock(args: SlotOrRoot<routes.beacon.BlockId>): Promise<ChainBlock | null>;
  getBeaconState(args: SlotOrRoot<routes.beacon.StateId>): Promise<ResolvedState | null>;
  setLogLevel(args: { logSpec: string }): true;
  setGraffiti(args: { graffiti: Uint8Array }): true;
}

export interface ExtensionsDependencies {
  chain: ChainView;
  sync: SyncView;
  version: string;
  /** Throws a `LogSpecError` for a specification that cannot be read. */
  setLogSpec(spec: string): void;
}

export function createExtensionsApi({ chain, sync, version, setLogSpec }: ExtensionsDependencies): ExtensionsApi {
  return {
    getBeaconHead: () => String(chain.head.slot),
    getChainHead: () => chainHead(chain),
    getNodeVersion: () => version,
    getSyncing: () => sync.isSyncing,
    getBeaconBlock: async (args) => findBlock(chain, onlyOne("getBeaconBlock", args)),
    getBeaconState: async (args) => findState(chain, onlyOne("getBeaconState", args)),

    setLogLevel({ logSpec }) {
      try {
        setLogSpec(logSpec);
      } catch (cause) {
        if (cause instanceof LogSpecError) throw invalidParams(cause.message, { cause });
        throw cause;
      }
      return true;
    },

    setGraffiti({ graffiti }) {
      chain.graffiti.set(graffiti);
      return true;
    },
  };
}

/** Head and checkpoints are read at once, so that they belong together. */
function chainHead({ head, headState }: ChainView): ChainHead {
  return {
    head_slot: String(head.slot),
    head_block_root: head.root,
    finalized_slot: firstSlot(headState.finalizedCheckpoint),
    finalized_block_root: toRootHex(headState.finalizedCheckpoint.root),
    justified_slot: firstSlot(headState.currentJustifiedCheckpoint),
    justified_block_root: toRootHex(headState.currentJustifiedCheckpoint.root),
  };
}

function firstSlot({ epoch }: Pick<phase0.Checkpoint, "epoch">): string {
  return String(computeStartSlotAtEpoch(epoch));
}

function onlyOne<Id>(method: string, { slot, root }: SlotOrRoot<Id>): Id | RootHex {
  if (slot !== undefined && root !== undefined) {
    throw invalidParams(`${method} takes a slot or a root, but both were given.`);
  }
  const given = slot ?? root;
  if (given === undefined) throw invalidParams(`${method} takes a slot or a root, but neither was given.`);
  return given;
}
