export const BLOCK_TAGS = ["latest", "safe", "finalized", "pending", "earliest"] as const;
export type BlockTag = (typeof BLOCK_TAGS)[number];

/** Reference to a block: by tag, by number on the canonical chain, or by hash (EIP-1898). */
export type BlockId =
  | { readonly tag: BlockTag }
  | { readonly number: bigint }
  | { readonly hash: string; readonly requireCanonical?: boolean };

/** Reference to a canonical block by tag or number. */
export type NumberedBlock = Exclude<BlockId, { hash: string }>;

/** Block hashes for the tags, set by consensus. */
export interface ChainTags {
  readonly latest: string;
  readonly safe: string;
  readonly finalized: string;
  /** Start of the next block's slot in Unix seconds. Defaults to the slot after the latest block. */
  readonly nextTimestamp?: number;
}

export const LATEST = { tag: "latest" } as const satisfies BlockId;
export const PENDING = { tag: "pending" } as const satisfies BlockId;
