import type { Type } from "@chainsafe/ssz";
import type { BeaconConfig } from "@lodestar/config";
import type { BeaconBlock, RootHex, SignedBeaconBlock, Slot } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";

// SSZ layout of SignedBeaconBlock: message offset (4 bytes), signature (96), then the message, which starts with slot
// (8), proposer index (8) and parent root (32).
const SLOT_OFFSET = 4 + 96;
const PARENT_ROOT_OFFSET = SLOT_OFFSET + 8 + 8;

/** Reads the slot without deserializing the block. */
export function slotOf(signedBlockBytes: Uint8Array): Slot {
  const view = new DataView(signedBlockBytes.buffer, signedBlockBytes.byteOffset, signedBlockBytes.byteLength);
  return Number(view.getBigUint64(SLOT_OFFSET, true));
}

/** Reads the parent root without deserializing the block. */
export function parentRootOf(signedBlockBytes: Uint8Array): RootHex {
  return toRootHex(signedBlockBytes.subarray(PARENT_ROOT_OFFSET, PARENT_ROOT_OFFSET + 32));
}

/** Deserializes a signed block of any fork. The slot determines the fork. */
export function deserializeSignedBlock(config: BeaconConfig, bytes: Uint8Array): SignedBeaconBlock {
  return config.getForkTypes(slotOf(bytes)).SignedBeaconBlock.deserialize(bytes) as SignedBeaconBlock;
}

export function serializeSignedBlock(config: BeaconConfig, block: SignedBeaconBlock): Uint8Array {
  return config.getForkTypes(block.message.slot).SignedBeaconBlock.serialize(block);
}

export function blockRoot(config: BeaconConfig, block: BeaconBlock): RootHex {
  const type = config.getForkTypes(block.slot).BeaconBlock as Type<BeaconBlock>;
  return toRootHex(type.hashTreeRoot(block));
}
