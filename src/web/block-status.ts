export type BlockStatusName = "orphaned" | "final" | "head" | "justified checkpoint" | "on the chain";

interface StatusContext {
  readonly head_block_root: string;
  readonly finalized_slot: string;
  readonly justified_block_root: string;
}

interface BlockOnChain {
  /** Undefined if only the slot is known. */
  readonly root?: string;
  readonly slot: number;
  readonly isCanonical: boolean;
}

/** Returns the status of a block. A final block stays final, even if it is the head. */
export function blockStatusOf({ root, slot, isCanonical }: BlockOnChain, head: StatusContext): BlockStatusName {
  if (!isCanonical) return "orphaned";
  if (slot <= Number(head.finalized_slot)) return "final";
  if (root === head.head_block_root) return "head";
  return root === head.justified_block_root ? "justified checkpoint" : "on the chain";
}
