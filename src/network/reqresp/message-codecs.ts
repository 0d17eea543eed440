import { ListCompositeType } from "@chainsafe/ssz";
import { type altair, type deneb, type fulu, type gloas, type phase0, ssz } from "@lodestar/types";
import { ProtocolViolation } from "./errors.ts";
import type { ChunkFormat } from "./response-chunk.ts";
import type { SizeBounds } from "./ssz-snappy.ts";

/** SSZ codec for a message. Values are in the newest format. */
export interface Codec<T> extends SizeBounds {
  encode(value: T): Uint8Array;
  /** Throws a `ProtocolViolation`. */
  decode(bytes: Uint8Array): T;
}

interface SszType<T> extends SizeBounds {
  serialize(value: T): Uint8Array;
  deserialize(bytes: Uint8Array): T;
}

function codec<T>(type: SszType<T>): Codec<T> {
  return {
    minSize: type.minSize,
    maxSize: type.maxSize,
    encode: (value) => type.serialize(value),
    decode(bytes) {
      try {
        return type.deserialize(bytes);
      } catch {
        throw new ProtocolViolation("The message cannot be decoded.");
      }
    },
  };
}

/** Creates the codec for an older version. `complete` adds the missing fields. */
function olderCodec<Old, T extends Old>(type: SszType<Old>, complete: (old: Old) => T): Codec<T> {
  const older = codec(type);
  return { ...older, decode: (bytes) => complete(older.decode(bytes)) };
}

export function uint64Codec(): Codec<bigint> {
  return codec(ssz.UintBn64);
}

export function statusCodec(version: number): Codec<fulu.Status> {
  const status =
    version === 1
      ? olderCodec<phase0.Status, fulu.Status>(ssz.phase0.Status, (old) => ({ ...old, earliestAvailableSlot: 0 }))
      : codec(ssz.fulu.Status);
  return {
    ...status,
    decode(bytes) {
      const decoded = status.decode(bytes);
      // Rejects slots and epochs that no chain reaches and that a number cannot represent exactly.
      for (const number of [decoded.headSlot, decoded.finalizedEpoch, decoded.earliestAvailableSlot]) {
        if (!Number.isSafeInteger(number))
          throw new ProtocolViolation("The status contains a slot or epoch above 2^53 - 1.");
      }
      return decoded;
    },
  };
}

/** Returns the codec for a version of the metadata. Missing fields get default values. */
export function metadataCodec(version: number): Codec<fulu.Metadata> {
  const empty = ssz.fulu.Metadata.defaultValue();
  if (version === 1) {
    return olderCodec<phase0.Metadata, fulu.Metadata>(ssz.phase0.Metadata, (old) => ({ ...empty, ...old }));
  }
  if (version === 2) {
    return olderCodec<altair.Metadata, fulu.Metadata>(ssz.altair.Metadata, (old) => ({ ...empty, ...old }));
  }
  return codec(ssz.fulu.Metadata);
}

export function rangeRequestCodec(): Codec<phase0.BeaconBlocksByRangeRequest> {
  return codec(ssz.phase0.BeaconBlocksByRangeRequest);
}

export function headRequestCodec(): Codec<fulu.BeaconBlocksByHeadRequest> {
  return codec(ssz.fulu.BeaconBlocksByHeadRequest);
}

export function blobRangeRequestCodec(): Codec<deneb.BlobSidecarsByRangeRequest> {
  return codec(ssz.deneb.BlobSidecarsByRangeRequest);
}

export function columnRangeRequestCodec(): Codec<fulu.DataColumnSidecarsByRangeRequest> {
  return codec(ssz.fulu.DataColumnSidecarsByRangeRequest);
}

export function payloadRangeRequestCodec(): Codec<gloas.ExecutionPayloadEnvelopesByRangeRequest> {
  return codec(ssz.gloas.ExecutionPayloadEnvelopesByRangeRequest);
}

export function blobIdentifiersCodec(maxSidecars: number): Codec<deneb.BlobIdentifier[]> {
  return codec(new ListCompositeType(ssz.deneb.BlobIdentifier, maxSidecars));
}

export function columnIdentifiersCodec(maxBlocks: number): Codec<fulu.DataColumnsByRootIdentifier[]> {
  return codec(new ListCompositeType(ssz.fulu.DataColumnsByRootIdentifier, maxBlocks));
}

const ROOT_BYTES = 32;

/** An SSZ list of roots is simply their concatenation. */
export function rootsRequestCodec(maxRoots: number): Codec<readonly Uint8Array[]> {
  return {
    minSize: 0,
    maxSize: maxRoots * ROOT_BYTES,
    encode: (roots) => Buffer.concat(roots),
    decode(bytes) {
      if (bytes.length % ROOT_BYTES !== 0)
        throw new ProtocolViolation("The length of the request is not a multiple of 32 bytes.");
      return Array.from({ length: bytes.length / ROOT_BYTES }, (_, index) =>
        bytes.subarray(index * ROOT_BYTES, (index + 1) * ROOT_BYTES),
      );
    },
  };
}

/** Returns the chunk format for single-message responses. */
export function plainFormat(bounds: SizeBounds): ChunkFormat {
  return { hasForkDigest: false, boundsOf: () => bounds };
}
