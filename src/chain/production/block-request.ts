import type { BLSSignature, RootHex, Slot } from "@lodestar/types";

/** What only the proposer and the head decide about a block; the rest comes from the pools. */
export interface BlockRequest {
  slot: Slot;
  parentRoot: RootHex;
  randaoReveal: BLSSignature;
  graffiti: Uint8Array;
  feeRecipient: Uint8Array;
}
