import type { BeaconConfig } from "@lodestar/config";
import { ForkName } from "@lodestar/params";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import { type SignedBeaconBlock, sszTypesFor } from "@lodestar/types";
import { ProtocolViolation } from "./protocol-violation.ts";
import type { ChunkFormat, ResponseChunk } from "./response-chunk.ts";

/** Version 1 of the block protocols knows blocks of phase0 only; from version 2 on a fork digest tells the type. */
export function blockFormat(config: BeaconConfig, version: number): ChunkFormat {
  return {
    hasForkDigest: version > 1,
    boundsOf: (forkDigest) => sszTypesFor(forkOf(config, forkDigest)).SignedBeaconBlock,
  };
}

/** The digest must be that of the block's own epoch (altair/p2p-interface.md, BeaconBlocksByRange v2). */
export function decodeBlock(config: BeaconConfig, { forkDigest, bytes }: ResponseChunk): SignedBeaconBlock {
  const fork = forkOf(config, forkDigest);
  const block = deserialize(fork, bytes);
  const boundary = config.getForkBoundaryAtEpoch(computeEpochAtSlot(block.message.slot));
  const matches =
    forkDigest.length === 0
      ? boundary.fork === fork
      : Buffer.compare(config.forkBoundary2ForkDigest(boundary), forkDigest) === 0;
  if (!matches) throw new ProtocolViolation("A block is of another fork than that of its slot.");
  return block;
}

function forkOf(config: BeaconConfig, forkDigest: Uint8Array): ForkName {
  if (forkDigest.length === 0) return ForkName.phase0;
  const boundary = config.forkDigest2ForkBoundaryOption(forkDigest);
  if (boundary === null) throw new ProtocolViolation("The fork digest of a block is not known.");
  return boundary.fork;
}

function deserialize(fork: ForkName, bytes: Uint8Array): SignedBeaconBlock {
  try {
    return sszTypesFor(fork).SignedBeaconBlock.deserialize(bytes);
  } catch {
    throw new ProtocolViolation("A block cannot be decoded.");
  }
}
