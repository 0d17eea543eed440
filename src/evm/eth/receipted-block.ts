import type { Block } from "../execution/block.ts";
import type { Receipt } from "../execution/receipt.ts";

/** A block with its receipts. Its state may not be held. */
export interface ReceiptedBlock extends Block {
  receipts: readonly Receipt[];
}
