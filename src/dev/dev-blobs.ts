import { createHash } from "node:crypto";
import { aggregatePublicKeys, PublicKey, SecretKey } from "@chainsafe/blst";
import type { BeaconConfig } from "@lodestar/config";
import {
  BYTES_PER_FIELD_ELEMENT,
  CELLS_PER_EXT_BLOB,
  FIELD_ELEMENTS_PER_BLOB,
  FIELD_ELEMENTS_PER_CELL,
  FIELD_ELEMENTS_PER_EXT_BLOB,
  isForkPostFulu,
  SLOTS_PER_EPOCH,
} from "@lodestar/params";
import type { Slot } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import { DevExecutionEngine } from "../execution/dev-engine.ts";
import type { ExecutionEngine, PayloadBlobs, PayloadRequest } from "../execution/engine.ts";

/** Blobs per payload. The count increases by one each slot from `min` to `max`, then starts over. */
export interface BlobCounts {
  min: number;
  max: number;
}

/** BLS_MODULUS from deneb/polynomial-commitments.md: the order of the field of blob elements. */
const MODULUS = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001n;
/** PRIMITIVE_ROOT_OF_UNITY for the same field. */
const PRIMITIVE_ROOT = 7n;
/** Coefficient of every term of the base polynomials. */
const COEFFICIENT = 2n ** 250n;
/** Size of the constants added to a base blob. No element of a base is close enough to the modulus to overflow. */
const CONSTANT_BYTES = 8;

/**
 * Commitments to b·X, b·(X^128 + X) and b·X^64, where b is the coefficient. `test/data/kzg.test.ts` recomputes them.
 */
const COMMITMENTS = {
  line: "0xa10b0cf11a55c4ddfca1ffec8fc260a3e69450bac755624e75eeab662c08a67f6ff6f5f2146c51bcefc40151c339cd6d",
  cells: "0xa6481af93e3e33e21a6f7a635e80e631b7af60e8bd09cc4cb976bc74da3a0969e5bad24ceee7f8e0ae119ad7b95aa5d1",
  quotient: "0xa4e7969962f638f9852888dd9d52fc4cbfc0c6d03884168b91e6385166d4cf626c760f314b5a24669b59028cafc62a7c",
} as const;

/** A blob to which constants are added. Its proofs are valid for every such sum. */
interface BaseBlob {
  /** The blob, followed by its extension from fulu on. */
  elements: Uint8Array;
  commitment: PublicKey;
  proofs: readonly Uint8Array[];
}

interface DevBlobsParts {
  config: Pick<BeaconConfig, "getMaxBlobsPerBlock">;
  counts: BlobCounts;
}

/**
 * Creates cheap, distinct blobs by adding a constant to every element of a base blob. Commitments, proofs and cells are
 * derived from those of the base (docs/decisions/commitments-in-threads.md), so no KZG backend is needed.
 */
export class DevBlobs {
  readonly #config: DevBlobsParts["config"];
  readonly #counts: BlobCounts;
  #line: BaseBlob | undefined;
  #extended: BaseBlob | undefined;

  constructor({ config, counts }: DevBlobsParts) {
    this.#config = config;
    this.#counts = counts;
  }

  /** Returns the number of blobs in a slot of deneb or later, within the limit for its epoch. */
  countAt(slot: Slot): number {
    const { min, max } = this.#counts;
    const limit = this.#config.getMaxBlobsPerBlock(Math.floor(slot / SLOTS_PER_EPOCH));
    return Math.min(min + (slot % (max - min + 1)), limit);
  }

  /** Deterministic: equal requests produce equal blobs. */
  bundleFor({ fork, slot, parent }: Pick<PayloadRequest, "fork" | "slot" | "parent">): PayloadBlobs {
    const count = this.countAt(slot);
    const constants = Array.from({ length: count }, (_, index) => constantOf(parent.blockHash, slot, index));
    return isForkPostFulu(fork) ? this.#bundleWithCells(constants) : this.#bundleOfLines(constants);
  }

  /** Before fulu, a proof covers the whole blob. */
  #bundleOfLines(constants: readonly bigint[]): PayloadBlobs {
    this.#line ??= baseLine();
    const { elements, commitment, proofs } = this.#line;
    return {
      blobs: constants.map((constant) => sumOf(elements, constant)),
      commitments: constants.map((constant) => commitmentTo(commitment, constant)),
      proofs: constants.flatMap(() => proofs),
    };
  }

  /** From fulu on, a proof covers one cell. */
  #bundleWithCells(constants: readonly bigint[]): PayloadBlobs {
    this.#extended ??= baseWithCells();
    const { elements, commitment, proofs } = this.#extended;
    const sums = constants.map((constant) => sumOf(elements, constant));
    return {
      blobs: sums.map((sum) => sum.subarray(0, FIELD_ELEMENTS_PER_BLOB * BYTES_PER_FIELD_ELEMENT)),
      cells: sums.map(cellsIn),
      commitments: constants.map((constant) => commitmentTo(commitment, constant)),
      proofs: constants.flatMap(() => proofs),
    };
  }
}

/** Makes the built-in engine add blobs to its payloads. */
export function attachBlobs(engine: ExecutionEngine, parts: DevBlobsParts): void {
  if (!(engine instanceof DevExecutionEngine) || parts.counts.max === 0) return;
  const blobs = new DevBlobs(parts);
  engine.takeBlobsFrom((request) => blobs.bundleFor(request));
}

/** b·X. The quotient (p(X) - p(z)) / (X - z) is b at every point z, so a single proof fits all points. */
function baseLine(): BaseBlob {
  return {
    elements: evaluations([1], FIELD_ELEMENTS_PER_BLOB),
    commitment: PublicKey.fromBytes(fromHex(COMMITMENTS.line)),
    proofs: [generatorTimes(COEFFICIENT).toBytes()],
  };
}

/**
 * b·(X^128 + X). The proof for a cell is the quotient by X^64 - t, where t is the 64th power of the cell's points:
 * b·(X^64 + t).
 */
function baseWithCells(): BaseBlob {
  const quotient = PublicKey.fromBytes(fromHex(COMMITMENTS.quotient));
  const root = rootOfUnity(CELLS_PER_EXT_BLOB);
  const proofs = Array.from({ length: CELLS_PER_EXT_BLOB }, (_, cell) => {
    const t = power(root, BigInt(reversedBits(cell, CELLS_PER_EXT_BLOB)));
    return aggregatePublicKeys([quotient, generatorTimes((COEFFICIENT * t) % MODULUS)]).toBytes();
  });
  return {
    elements: evaluations([2 * FIELD_ELEMENTS_PER_CELL, 1], FIELD_ELEMENTS_PER_EXT_BLOB),
    commitment: PublicKey.fromBytes(fromHex(COMMITMENTS.cells)),
    proofs,
  };
}

function cellsIn(extended: Uint8Array): Uint8Array[] {
  const size = FIELD_ELEMENTS_PER_CELL * BYTES_PER_FIELD_ELEMENT;
  return Array.from({ length: CELLS_PER_EXT_BLOB }, (_, cell) => extended.subarray(cell * size, (cell + 1) * size));
}

/** Commitments are linear, and a constant polynomial commits to the generator times that constant. */
function commitmentTo(base: PublicKey, constant: bigint): Uint8Array {
  return aggregatePublicKeys([base, generatorTimes(constant)]).toBytes();
}

function constantOf(parentHash: Uint8Array, slot: Slot, index: number): bigint {
  const hash = createHash("sha256").update(parentHash).update(`${slot}/${index}`).digest();
  return hash.readBigUInt64BE(0);
}

/** Returns a multiple of the generator of G1. */
function generatorTimes(scalar: bigint): PublicKey {
  return SecretKey.fromBytes(bytesOf(scalar)).toPublicKey();
}

function bytesOf(element: bigint): Uint8Array {
  return Buffer.from(element.toString(16).padStart(2 * BYTES_PER_FIELD_ELEMENT, "0"), "hex");
}

/** Adds the constant to every element. The elements are big-endian and stay below the modulus. */
function sumOf(elements: Uint8Array, constant: bigint): Uint8Array {
  const sum = new Uint8Array(elements);
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

/**
 * Evaluates the coefficient times a sum of powers of X at the roots of unity of the given order, in bit-reversed order.
 */
function evaluations(exponents: readonly number[], order: number): Uint8Array {
  const root = rootOfUnity(order);
  const factors = exponents.map((exponent) => power(root, BigInt(exponent)));
  const elements = new Uint8Array(order * BYTES_PER_FIELD_ELEMENT);
  let terms = exponents.map(() => COEFFICIENT);
  for (let index = 0; index < order; index++) {
    const value = terms.reduce((sum, term) => sum + term) % MODULUS;
    elements.set(bytesOf(value), reversedBits(index, order) * BYTES_PER_FIELD_ELEMENT);
    terms = terms.map((term, position) => (term * factors[position]!) % MODULUS);
  }
  return elements;
}

/** deneb/polynomial-commitments.md, compute_roots_of_unity: the generator of the roots of the given order. */
function rootOfUnity(order: number): bigint {
  return power(PRIMITIVE_ROOT, (MODULUS - 1n) / BigInt(order));
}

/** deneb/polynomial-commitments.md, reverse_bits. */
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
