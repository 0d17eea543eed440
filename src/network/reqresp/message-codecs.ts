import { ListCompositeType } from "@chainsafe/ssz";
import { type altair, type deneb, type fulu, type phase0, ssz } from "@lodestar/types";
import { ProtocolViolation } from "./errors.ts";
import type { ChunkFormat } from "./response-chunk.ts";
import type { SizeBounds } from "./ssz-snappy.ts";

/** SSZ of one kind of message, in the shape that this node works with. */
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

/** Of an older version of a message, which lacks what `complete` adds. */
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
      // Numbers of 64 bits that no chain reaches, and that are not exact here, would only mislead whoever counts with them.
      for (const number of [decoded.headSlot, decoded.finalizedEpoch, decoded.earliestAvailableSlot]) {
        if (!Number.isSafeInteger(number)) throw new ProtocolViolation("The status has numbers that no chain reaches.");
      }
      return decoded;
    },
  };
}

/** What a version lacks is empty. */
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

export function blobIdentifiersCodec(maxSidecars: number): Codec<deneb.BlobIdentifier[]> {
  return codec(new ListCompositeType(ssz.deneb.BlobIdentifier, maxSidecars));
}

export function columnIdentifiersCodec(maxBlocks: number): Codec<fulu.DataColumnsByRootIdentifier[]> {
  return codec(new ListCompositeType(ssz.fulu.DataColumnsByRootIdentifier, maxBlocks));
}

const ROOT_BYTES = 32;

/** A list of roots is nothing but the roots one after the other. */
export function rootsRequestCodec(maxRoots: number): Codec<readonly Uint8Array[]> {
  return {
    minSize: 0,
    maxSize: maxRoots * ROOT_BYTES,
    encode: (roots) => Buffer.concat(roots),
    decode(bytes) {
      if (bytes.length % ROOT_BYTES !== 0) throw new ProtocolViolation("The request is no list of roots.");
      return Array.from({ length: bytes.length / ROOT_BYTES }, (_, index) =>
        bytes.subarray(index * ROOT_BYTES, (index + 1) * ROOT_BYTES),
      );
    },
  };
}

/** Of responses that are a single message. */
export function plainFormat(bounds: SizeBounds): ChunkFormat {
  return { hasForkDigest: false, boundsOf: () => bounds };
}
