import { createHash } from "node:crypto";
import { aggregatePublicKeys, PublicKey, SecretKey } from "@chainsafe/blst";
import type { BeaconConfig } from "@lodestar/config";
import { BYTES_PER_FIELD_ELEMENT, FIELD_ELEMENTS_PER_BLOB, isForkPostFulu, SLOTS_PER_EPOCH } from "@lodestar/params";
import type { BlobsBundle, Slot } from "@lodestar/types";
import type { Kzg } from "../data/kzg.ts";
import { DevExecutionEngine } from "../execution/dev-engine.ts";
import type { ExecutionEngine, PayloadRequest } from "../execution/engine.ts";

/** How many blobs a payload has: in each slot one more than in the slot before, and after the most the least again. */
export interface BlobCounts {
  least: number;
  most: number;
}

/** The order of the field whose elements blobs are made of (deneb/polynomial-commitments.md, BLS_MODULUS). */
const MODULUS = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001n;
/** PRIMITIVE_ROOT_OF_UNITY of the same. */
const PRIMITIVE_ROOT = 7n;
/** No element of the base blobs is so near to the modulus that a constant could carry it beyond. */
const CONSTANT_BYTES = 8;

/** A blob of which others are made, with proofs that are those of all others, too. */
interface BaseBlob {
  blob: Uint8Array;
  commitment: PublicKey;
  proofs: readonly Uint8Array[];
}

/** Before fulu a proof is about the whole blob, from fulu on about a cell of it. */
type BaseKind = "linear" | "dense";

interface DevBlobsParts {
  config: BeaconConfig;
  kzg: Kzg;
  counts: BlobCounts;
}

/**
 * Blobs that cost little, each another: one base blob plus a constant, added to each of its elements
 * (docs/decisions/blobs-in-a-thread.md says why their commitments and proofs are at hand).
 */
export class DevBlobs {
  readonly #config: BeaconConfig;
  readonly #kzg: Kzg;
  readonly #counts: BlobCounts;
  readonly #bases = new Map<BaseKind, Promise<BaseBlob>>();

  constructor({ config, kzg, counts }: DevBlobsParts) {
    this.#config = config;
    this.#kzg = kzg;
    this.#counts = counts;
  }

  /** Of a slot of deneb or later. */
  countAt(slot: Slot): number {
    const { least, most } = this.#counts;
    const limit = this.#config.getMaxBlobsPerBlock(Math.floor(slot / SLOTS_PER_EPOCH));
    return Math.min(least + (slot % (most - least + 1)), limit);
  }

  /** The same for the same request, others for others. */
  async bundleFor({ fork, slot, parent }: PayloadRequest): Promise<BlobsBundle> {
    const bundle: BlobsBundle = { commitments: [], proofs: [], blobs: [] };
    const count = this.countAt(slot);
    if (count === 0) return bundle;
    const base = await this.#base(isForkPostFulu(fork) ? "dense" : "linear");
    for (let index = 0; index < count; index++) {
      const constant = constantOf(parent.blockHash, slot, index);
      bundle.blobs.push(sumOf(base.blob, constant));
      bundle.commitments.push(aggregatePublicKeys([base.commitment, multipleOfGenerator(constant)]).toBytes());
      bundle.proofs.push(...base.proofs);
    }
    return bundle;
  }

  /** Computed by the first who needs it; again, if that failed. */
  #base(kind: BaseKind): Promise<BaseBlob> {
    let base = this.#bases.get(kind);
    if (base === undefined) {
      base = kind === "linear" ? this.#linearBase() : this.#denseBase();
      base.catch(() => this.#bases.delete(kind));
      this.#bases.set(kind, base);
    }
    return base;
  }

  /** Its proof is made for a point that depends on the blob, but how steeply a line rises is the same at every point. */
  async #linearBase(): Promise<BaseBlob> {
    const blob = linearBlob();
    const commitment = await this.#kzg.commitmentOf(blob);
    const proof = await this.#kzg.blobProofOf(blob, commitment);
    return { blob, commitment: PublicKey.fromBytes(commitment), proofs: [proof] };
  }

  /** The points of its proofs are those of the cells, whatever the blob. */
  async #denseBase(): Promise<BaseBlob> {
    const blob = denseBlob();
    const [commitment, { proofs }] = await Promise.all([
      this.#kzg.commitmentOf(blob),
      this.#kzg.cellsAndProofsOf(blob),
    ]);
    return { blob, commitment: PublicKey.fromBytes(commitment), proofs };
  }
}

/** Has the payloads of the built-in engine carry blobs. */
export function carryBlobs(engine: ExecutionEngine, parts: DevBlobsParts): void {
  if (!(engine instanceof DevExecutionEngine) || parts.counts.most === 0) return;
  const blobs = new DevBlobs(parts);
  parts.kzg.prepare();
  engine.takeBlobsFrom((request) => blobs.bundleFor(request));
}

function constantOf(parentHash: Uint8Array, slot: Slot, index: number): Uint8Array {
  const hash = createHash("sha256").update(parentHash).update(`${slot}/${index}`).digest();
  return new Uint8Array(hash.fill(0, 0, hash.length - CONSTANT_BYTES));
}

function multipleOfGenerator(scalar: Uint8Array): PublicKey {
  return SecretKey.fromBytes(scalar).toPublicKey();
}

/** Each element of the blob and the constant, as numbers of 32 bytes, the first of which counts most. */
function sumOf(blob: Uint8Array, constant: Uint8Array): Uint8Array {
  const sum = new Uint8Array(blob);
  for (let end = BYTES_PER_FIELD_ELEMENT; end <= sum.length; end += BYTES_PER_FIELD_ELEMENT) {
    let carry = 0;
    for (let back = 1; back <= CONSTANT_BYTES || carry > 0; back++) {
      const digit = sum[end - back]! + constant[BYTES_PER_FIELD_ELEMENT - back]! + carry;
      sum[end - back] = digit & 0xff;
      carry = digit >> 8;
    }
  }
  return sum;
}

/** The values of a line that goes through zero, at the points where a blob has its elements. */
function linearBlob(): Uint8Array {
  const slope = 2n ** 250n;
  const root = power(PRIMITIVE_ROOT, (MODULUS - 1n) / BigInt(FIELD_ELEMENTS_PER_BLOB));
  const blob = Buffer.alloc(FIELD_ELEMENTS_PER_BLOB * BYTES_PER_FIELD_ELEMENT);
  let value = slope;
  for (let index = 0; index < FIELD_ELEMENTS_PER_BLOB; index++) {
    blob.write(value.toString(16).padStart(64, "0"), reversedBits(index) * BYTES_PER_FIELD_ELEMENT, "hex");
    value = (value * root) % MODULUS;
  }
  return new Uint8Array(blob);
}

/** Elements of no order, each of at most 31 bytes. */
function denseBlob(): Uint8Array {
  const outputLength = FIELD_ELEMENTS_PER_BLOB * BYTES_PER_FIELD_ELEMENT;
  const blob = new Uint8Array(createHash("shake256", { outputLength }).update("fanal dev blobs").digest());
  for (let first = 0; first < blob.length; first += BYTES_PER_FIELD_ELEMENT) blob[first] = 0;
  return blob;
}

/** deneb/polynomial-commitments.md, bit_reversal_permutation: where a blob has the element of that power of the root. */
function reversedBits(index: number): number {
  let reversed = 0;
  for (let bit = 1; bit < FIELD_ELEMENTS_PER_BLOB; bit <<= 1) reversed = (reversed << 1) | (index & bit ? 1 : 0);
  return reversed;
}

function power(base: bigint, exponent: bigint): bigint {
  if (exponent === 0n) return 1n;
  const half = power((base * base) % MODULUS, exponent >> 1n);
  return exponent & 1n ? (half * base) % MODULUS : half;
}
