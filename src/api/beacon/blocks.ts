import type { routes } from "@lodestar/api";
import type { ApplicationMethods } from "@lodestar/api/server";
import type { BeaconConfig } from "@lodestar/config";
import { signedBlockToSignedHeader } from "@lodestar/state-transition";
import type { SignedBeaconBlock } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import type { ChainBlock } from "../../chain/blocks/block-store.ts";
import type { ChainView } from "../chain-view.ts";
import { resolveBlock } from "../identifiers.ts";
import { metaOf } from "./states.ts";

export type BlocksApi = Pick<
  ApplicationMethods<routes.beacon.Endpoints>,
  "getBlockHeaders" | "getBlockHeader" | "getBlockV2" | "getBlockRoot" | "getBlockAttestationsV2"
>;

export function versionedMetaOf({ config }: Pick<ChainView, "config">, block: ChainBlock) {
  return { ...metaOf(block), version: config.getForkName(block.slot) };
}

/** Headers of blocks that are at hand; whether a block is canonical is the one thing about it that can change. */
class Headers {
  readonly #config: BeaconConfig;
  readonly #known = new WeakMap<SignedBeaconBlock, routes.beacon.BlockHeaderResponse>();

  constructor(config: BeaconConfig) {
    this.#config = config;
  }

  of({ root, canonical, signed }: ChainBlock): routes.beacon.BlockHeaderResponse {
    const known = this.#known.get(signed);
    if (known?.canonical === canonical) return known;
    const header = known?.header ?? signedBlockToSignedHeader(this.#config, signed);
    const response = { root: fromHex(root), canonical, header };
    this.#known.set(signed, response);
    return response;
  }
}

export function createBlocksApi(chain: ChainView): BlocksApi {
  const headers = new Headers(chain.config);
  return {
    async getBlockHeaders({ slot, parentRoot }) {
      const blocks = await blocksMatching(chain, slot, parentRoot);
      return {
        data: blocks.map((block) => headers.of(block)),
        meta: {
          executionOptimistic: blocks.some((block) => block.executionOptimistic),
          finalized: blocks.length > 0 && blocks.every((block) => block.finalized),
        },
      };
    },

    async getBlockHeader({ blockId }) {
      const block = await resolveBlock(chain, blockId);
      return { data: headers.of(block), meta: metaOf(block) };
    },

    async getBlockV2({ blockId }) {
      const block = await resolveBlock(chain, blockId);
      return { data: block.signed, meta: versionedMetaOf(chain, block) };
    },

    async getBlockRoot({ blockId }) {
      const block = await resolveBlock(chain, blockId);
      return { data: { root: fromHex(block.root) }, meta: metaOf(block) };
    },

    async getBlockAttestationsV2({ blockId }) {
      const block = await resolveBlock(chain, blockId);
      return { data: block.signed.message.body.attestations, meta: versionedMetaOf(chain, block) };
    },
  };
}

/** Without a filter these are the blocks at the head's slot; both filters together must both hold. */
async function blocksMatching(
  chain: ChainView,
  slot: number | undefined,
  parentRoot: string | undefined,
): Promise<ChainBlock[]> {
  if (parentRoot !== undefined) {
    const children = await chain.blocks.childrenOf(parentRoot);
    const matching = slot === undefined ? children : children.filter((block) => block.slot === slot);
    return matching.sort((a, b) => Number(b.canonical) - Number(a.canonical));
  }
  if (slot === undefined) return chain.blocks.atSlot(chain.head.slot);
  if (slot > Math.max(chain.clock.currentSlot, chain.head.slot)) return [];
  return chain.blocks.atSlot(slot);
}
