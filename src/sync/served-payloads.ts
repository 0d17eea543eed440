import type { gloas, RootHex, SignedBeaconBlock } from "@lodestar/types";
import { bidOf } from "../chain/blocks/bid.ts";

/** A payload with the peer that served it. */
export interface ServedPayload {
  envelope: gloas.SignedExecutionPayloadEnvelope;
  peerId: string;
}

/** Payloads of a batch by block root. */
export type ServedPayloads = ReadonlyMap<RootHex, ServedPayload>;

/** True if a block is built on the payload of its parent, for a parent since gloas. */
export function buildsOnPayloadOf(signed: SignedBeaconBlock, parent: SignedBeaconBlock): boolean {
  const [bid, parentBid] = [bidOf(signed.message), bidOf(parent.message)];
  return bid !== undefined && parentBid !== undefined && Buffer.compare(bid.parentBlockHash, parentBid.blockHash) === 0;
}
