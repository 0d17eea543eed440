import type { Type as SszType } from "@chainsafe/ssz";
import type { BeaconConfig } from "@lodestar/config";
import { BYTES_PER_FIELD_ELEMENT, FIELD_ELEMENTS_PER_CELL, ForkSeq, NUMBER_OF_COLUMNS } from "@lodestar/params";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import { type deneb, type Epoch, type RootHex, ssz } from "@lodestar/types";
import { blockRootOfSidecar, type ColumnSidecar, type DataSidecar, slotOfSidecar } from "../../data/sidecar.ts";
import { deserializeExactly } from "../deserialize-exactly.ts";
import { ProtocolViolation } from "./errors.ts";
import type { BlockRange, SidecarIdentifiers } from "./interface.ts";
import type { ChunkFormat, ResponseChunk } from "./response-chunk.ts";
import type { SizeBounds } from "./ssz-snappy.ts";

/** Describes a kind of sidecar: blobs or columns. */
export interface SidecarKind<S extends DataSidecar> {
  /** Returns true if blocks in the fork have such sidecars. */
  isInFork(fork: ForkSeq): boolean;
  /** Returns the possible SSZ sizes in an epoch. */
  bounds(config: BeaconConfig, epoch: Epoch): SizeBounds;
  /** Returns the number of indices per block. */
  indices(config: BeaconConfig, epoch: Epoch): number;
  deserialize(bytes: Uint8Array, fork: ForkSeq): S;
}

export const BLOB_SIDECARS: SidecarKind<deneb.BlobSidecar> = {
  isInFork: (fork) => fork >= ForkSeq.deneb && fork < ForkSeq.fulu,
  bounds: () => ssz.deneb.BlobSidecar,
  indices: (config, epoch) => config.getMaxBlobsPerBlock(epoch),
  deserialize: (bytes) => deserializeExactly(ssz.deneb.BlobSidecar, bytes),
};

const POINT_BYTES = 48;
const CELL_WITH_COMMITMENT_AND_PROOF = FIELD_ELEMENTS_PER_CELL * BYTES_PER_FIELD_ELEMENT + 2 * POINT_BYTES;

/** Column type of a fork. Since gloas, columns have neither header nor commitments. */
const columnType = (fork: ForkSeq) =>
  (fork >= ForkSeq.gloas ? ssz.gloas : ssz.fulu).DataColumnSidecar as SszType<ColumnSidecar>;

export const COLUMN_SIDECARS: SidecarKind<ColumnSidecar> = {
  isInFork: (fork) => fork >= ForkSeq.fulu,
  bounds(config, epoch) {
    const { minSize } = columnType(config.getForkSeqAtEpoch(epoch));
    const maxSize = minSize + config.getMaxBlobsPerBlock(epoch) * CELL_WITH_COMMITMENT_AND_PROOF;
    return { minSize, maxSize };
  },
  indices: () => NUMBER_OF_COLUMNS,
  deserialize: (bytes, fork) => deserializeExactly(columnType(fork), bytes),
};

/** Collects the sidecars from a response. `add` throws a `ProtocolViolation` if a sidecar violates the protocol. */
export interface SidecarCollector<S extends DataSidecar> {
  readonly kind: SidecarKind<S>;
  readonly sidecars: S[];
  add(sidecar: S): void;
}

/**
 * Validates a response to a request by range: sorted by slot and index, and with only one block per slot
 * (BlobSidecarsByRange in deneb/p2p-interface.md, DataColumnSidecarsByRange in fulu/p2p-interface.md).
 */
export class SidecarRangeCollector<S extends DataSidecar> implements SidecarCollector<S> {
  readonly kind: SidecarKind<S>;
  readonly sidecars: S[] = [];
  readonly #range: BlockRange;
  readonly #indices: ReadonlySet<number> | undefined;

  /** If no indices are given, all are accepted. */
  constructor(kind: SidecarKind<S>, range: BlockRange, indices?: readonly number[]) {
    this.kind = kind;
    this.#range = range;
    this.#indices = indices && new Set(indices);
  }

  add(sidecar: S): void {
    const { startSlot, count } = this.#range;
    const slot = slotOfSidecar(sidecar);
    if (slot < startSlot || slot >= startSlot + count || this.#indices?.has(sidecar.index) === false) {
      throw new ProtocolViolation("A sidecar was not requested.");
    }
    const previous = this.sidecars.at(-1);
    if (previous !== undefined) {
      const slotBefore = slotOfSidecar(previous);
      if (slot < slotBefore || (slot === slotBefore && sidecar.index <= previous.index)) {
        throw new ProtocolViolation("The sidecars are not in order of slots and indices.");
      }
      if (slot === slotBefore && blockRootOfSidecar(sidecar) !== blockRootOfSidecar(previous)) {
        throw new ProtocolViolation("The sidecars of a slot belong to different blocks.");
      }
    }
    this.sidecars.push(sidecar);
  }
}

/**
 * Validates a response to a request by root: a subset of the requested sidecars, each at most once (deneb and
 * fulu/p2p-interface.md).
 */
export class SidecarRootCollector<S extends DataSidecar> implements SidecarCollector<S> {
  readonly kind: SidecarKind<S>;
  readonly sidecars: S[] = [];
  readonly #missing: Map<RootHex, Set<number>>;

  constructor(kind: SidecarKind<S>, identifiers: readonly SidecarIdentifiers[]) {
    this.kind = kind;
    this.#missing = new Map(identifiers.map(({ root, indices }) => [root, new Set(indices)]));
  }

  add(sidecar: S): void {
    if (!this.#missing.get(blockRootOfSidecar(sidecar))?.delete(sidecar.index)) {
      throw new ProtocolViolation("A sidecar was not requested or is a duplicate.");
    }
    this.sidecars.push(sidecar);
  }
}

/** Returns the chunk format for sidecars. */
export function sidecarFormat<S extends DataSidecar>(config: BeaconConfig, kind: SidecarKind<S>): ChunkFormat {
  return {
    hasForkDigest: true,
    boundsOf(forkDigest) {
      const boundary = config.forkDigest2ForkBoundaryOption(forkDigest);
      if (boundary === null) throw new ProtocolViolation("The fork digest of a sidecar is unknown.");
      if (!kind.isInFork(ForkSeq[boundary.fork])) throw new ProtocolViolation("The fork has no sidecars of this kind.");
      return kind.bounds(config, boundary.epoch);
    },
  };
}

/** Decodes a sidecar. The fork digest must match the epoch of its block. */
export function decodeSidecar<S extends DataSidecar>(
  config: BeaconConfig,
  kind: SidecarKind<S>,
  { forkDigest, bytes }: ResponseChunk,
): S {
  const boundary = config.forkDigest2ForkBoundary(forkDigest);
  const sidecar = deserialize(kind, bytes, ForkSeq[boundary.fork]);
  const epoch = computeEpochAtSlot(slotOfSidecar(sidecar));
  const digest = config.forkBoundary2ForkDigest(config.getForkBoundaryAtEpoch(epoch));
  if (Buffer.compare(digest, forkDigest) !== 0) {
    throw new ProtocolViolation("The fork digest of a sidecar does not match its slot.");
  }
  if (sidecar.index >= kind.indices(config, epoch))
    throw new ProtocolViolation("The index of a sidecar is out of range.");
  return sidecar;
}

function deserialize<S extends DataSidecar>(kind: SidecarKind<S>, bytes: Uint8Array, fork: ForkSeq): S {
  try {
    return kind.deserialize(bytes, fork);
  } catch {
    throw new ProtocolViolation("A sidecar cannot be decoded.");
  }
}
