import { createHash } from "node:crypto";
import { aggregatePublicKeys, PublicKey, SecretKey } from "@chainsafe/blst";
import type { BeaconConfig } from "@lodestar/config";
import {
  BYTES_PER_FIELD_ELEMENT,
  CELLS_PER_EXT_BLOB,
  FIELD_ELEMENTS_PER_BLOB,
  FIELD_ELEMENTS_PER_CELL,
  isForkPostFulu,
  SLOTS_PER_EPOCH,
} from "@lodestar/params";
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
/** Of all terms of the base polynomials. */
const COEFFICIENT = 2n ** 250n;
/** No element of the base blobs is so near to the modulus that a constant could carry it beyond. */
const CONSTANT_BYTES = 8;

/** A blob of which others are made, with proofs that are those of all others, too. */
interface BaseBlob {
  blob: Uint8Array;
  commitment: PublicKey;
  proofs: readonly Uint8Array[];
}

/** Before fulu a proof is about the whole blob, from fulu on about a cell of it. */
type BaseKind = "whole" | "cells";

interface DevBlobsParts {
  config: Pick<BeaconConfig, "getMaxBlobsPerBlock">;
  kzg: Kzg;
  counts: BlobCounts;
}

/**
 * Blobs that cost little, each another: one base blob plus a constant, added to each of its elements
 * (docs/decisions/commitments-in-threads.md says why their commitments and proofs are at hand).
 */
export class DevBlobs {
  readonly #config: DevBlobsParts["config"];
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
  async bundleFor({ fork, slot, parent }: Pick<PayloadRequest, "fork" | "slot" | "parent">): Promise<BlobsBundle> {
    const bundle: BlobsBundle = { commitments: [], proofs: [], blobs: [] };
    const count = this.countAt(slot);
    if (count === 0) return bundle;
    const base = await this.#base(isForkPostFulu(fork) ? "cells" : "whole");
    for (let index = 0; index < count; index++) {
      const constant = constantOf(parent.blockHash, slot, index);
      bundle.blobs.push(sumOf(base.blob, constant));
      bundle.commitments.push(aggregatePublicKeys([base.commitment, multipleOf(constant)]).toBytes());
      bundle.proofs.push(...base.proofs);
    }
    return bundle;
  }

  /** Computed by the first who needs it; again, if that failed. */
  #base(kind: BaseKind): Promise<BaseBlob> {
    let base = this.#bases.get(kind);
    if (base === undefined) {
      base = kind === "whole" ? this.#baseOfWhole() : this.#baseOfCells();
      base.catch(() => this.#bases.delete(kind));
      this.#bases.set(kind, base);
    }
    return base;
  }

  /** A line. What proves its value at a point, whichever, is how steeply it rises. */
  async #baseOfWhole(): Promise<BaseBlob> {
    const blob = blobOfPowers([1]);
    return { blob, commitment: await this.#commitmentOf(blob), proofs: [multipleOf(COEFFICIENT).toBytes()] };
  }

  /**
   * What proves the values in a cell is the quotient of the polynomial by X^64 - t, where t is the 64th power of each point of the cell.
   * That of X^128 + X is X^64 + t.
   */
  async #baseOfCells(): Promise<BaseBlob> {
    const blob = blobOfPowers([2 * FIELD_ELEMENTS_PER_CELL, 1]);
    const [commitment, shared] = await Promise.all([
      this.#commitmentOf(blob),
      this.#commitmentOf(blobOfPowers([FIELD_ELEMENTS_PER_CELL])),
    ]);
    const root = rootOfUnity(CELLS_PER_EXT_BLOB);
    const proofs = Array.from({ length: CELLS_PER_EXT_BLOB }, (_, cell) => {
      const t = power(root, BigInt(reversedBits(cell, CELLS_PER_EXT_BLOB)));
      return aggregatePublicKeys([shared, multipleOf((COEFFICIENT * t) % MODULUS)]).toBytes();
    });
    return { blob, commitment, proofs };
  }

  async #commitmentOf(blob: Uint8Array): Promise<PublicKey> {
    return PublicKey.fromBytes(await this.#kzg.commitmentOf(blob));
  }
}

/** Has the payloads of the built-in engine carry blobs. */
export function carryBlobs(engine: ExecutionEngine, parts: DevBlobsParts): void {
  if (!(engine instanceof DevExecutionEngine) || parts.counts.most === 0) return;
  const blobs = new DevBlobs(parts);
  parts.kzg.prepare();
  engine.takeBlobsFrom((request) => blobs.bundleFor(request));
}

/** Small enough to be added without a look at the modulus. */
function constantOf(parentHash: Uint8Array, slot: Slot, index: number): bigint {
  const hash = createHash("sha256").update(parentHash).update(`${slot}/${index}`).digest();
  return hash.readBigUInt64BE(0);
}

/** Of the generator of the group that commitments are of. */
function multipleOf(scalar: bigint): PublicKey {
  return SecretKey.fromBytes(bytesOf(scalar)).toPublicKey();
}

function bytesOf(element: bigint): Uint8Array {
  return Buffer.from(element.toString(16).padStart(2 * BYTES_PER_FIELD_ELEMENT, "0"), "hex");
}

/** Of each element of the blob and the constant, as numbers of 32 bytes, the first of which counts most. */
function sumOf(blob: Uint8Array, constant: bigint): Uint8Array {
  const sum = new Uint8Array(blob);
  const summand = bytesOf(constant);
  for (let end = BYTES_PER_FIELD_ELEMENT; end <= sum.length; end += BYTES_PER_FIELD_ELEMENT) {
    let carry = 0;
    for (let back = 1; back <= CONSTANT_BYTES || carry > 0; back++) {
      const digit = sum[end - back]! + summand[BYTES_PER_FIELD_ELEMENT - back]! + carry;
      sum[end - back] = digit & 0xff;
      carry = digit >> 8;
    }
  }
  return sum;
}

/** The values of a sum of powers of X, each with the coefficient, at the points where a blob has its elements. */
function blobOfPowers(exponents: readonly number[]): Uint8Array {
  const root = rootOfUnity(FIELD_ELEMENTS_PER_BLOB);
  const factors = exponents.map((exponent) => power(root, BigInt(exponent)));
  const blob = new Uint8Array(FIELD_ELEMENTS_PER_BLOB * BYTES_PER_FIELD_ELEMENT);
  let terms = exponents.map(() => COEFFICIENT);
  for (let index = 0; index < FIELD_ELEMENTS_PER_BLOB; index++) {
    const value = terms.reduce((sum, term) => sum + term) % MODULUS;
    blob.set(bytesOf(value), reversedBits(index, FIELD_ELEMENTS_PER_BLOB) * BYTES_PER_FIELD_ELEMENT);
    terms = terms.map((term, place) => (term * factors[place]!) % MODULUS);
  }
  return blob;
}

/** deneb/polynomial-commitments.md, compute_roots_of_unity: the one whose powers all others of that order are. */
function rootOfUnity(order: number): bigint {
  return power(PRIMITIVE_ROOT, (MODULUS - 1n) / BigInt(order));
}

/** deneb/polynomial-commitments.md, reverse_bits: where a list of points has the one of that power of the root. */
function reversedBits(index: number, order: number): number {
  let reversed = 0;
  for (let bit = 1; bit < order; bit <<= 1) reversed = (reversed << 1) | (index & bit ? 1 : 0);
  return reversed;
}

function power(base: bigint, exponent: bigint): bigint {
  if (exponent === 0n) return 1n;
  const half = power((base * base) % MODULUS, exponent >> 1n);
  return exponent & 1n ? (half * base) % MODULUS : half;
}
