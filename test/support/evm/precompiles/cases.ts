import { createHash } from "node:crypto";
import {
  BN254_G2_GENERATOR,
  blake2Input,
  blsPairingInput,
  bn254AddInput,
  bn254MulInput,
  bn254PairingInput,
  bn254Point,
  bytes,
  concat,
  G1_GENERATOR,
  g1AddInput,
  g1MsmInput,
  g1Point,
  g2AddInput,
  g2MsmInput,
  g2Point,
  mapG1Input,
  mapG2Input,
  p256Input,
  pointEvaluationInput,
  SCALAR,
  word,
} from "./inputs.ts";

/** Inputs of a precompile. The first one is valid. */
export interface Case {
  name: string;
  address: number;
  inputs: () => Uint8Array[];
}

const BLS_P = 0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaabn;
const BLS_ORDER = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001n;
const BN_P = 0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47n;
const BN_ORDER = 0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001n;
const FIELD_SIZE = 64;
const ZERO = new Uint8Array(0);
const zeros = (size: number): Uint8Array<ArrayBuffer> => new Uint8Array(size);
const blsField = (value: bigint): Uint8Array => word(value, FIELD_SIZE);

type Complex = readonly [real: bigint, imaginary: bigint];

function power(base: bigint, exponent: bigint, p: bigint): bigint {
  let result = 1n;
  for (const bit of exponent.toString(2)) {
    result = (result * result) % p;
    if (bit === "1") result = (result * base) % p;
  }
  return result;
}

/** Square root modulo a prime that is 3 modulo 4. Undefined if there is none. */
function root(value: bigint, p: bigint): bigint | undefined {
  const candidate = power(value, (p + 1n) / 4n, p);
  return (candidate * candidate) % p === value ? candidate : undefined;
}

function complexRoot([a, b]: Complex, p: bigint): Complex | undefined {
  const norm = root((a * a + b * b) % p, p);
  if (norm === undefined) return undefined;
  const half = (p + 1n) / 2n;
  for (const sign of [norm, p - norm]) {
    const real = root(((a + sign) * half) % p, p);
    if (real) return [real, (b * half * power(real, p - 2n, p)) % p];
  }
  return undefined;
}

const product = ([a, b]: Complex, [c, d]: Complex, p: bigint): Complex => [
  (a * c + (p - b) * d) % p,
  (a * d + b * c) % p,
];

/** Finds a point of the curve y² = x³ + b. It is in the subgroup with a negligible probability. */
function complexPoint(b: Complex, p: bigint): { x: Complex; y: Complex } {
  for (let real = 1n; ; real++) {
    const x: Complex = [real, 1n];
    const cube = product(product(x, x, p), x, p);
    const y = complexRoot([(cube[0] + b[0]) % p, (cube[1] + b[1]) % p], p);
    if (y) return { x, y };
  }
}

/** Point of G1 of BLS12-381 outside of the subgroup. */
export function g1Outside(): Uint8Array {
  for (let x = 1n; ; x++) {
    const y = root((x * x * x + 4n) % BLS_P, BLS_P);
    if (y !== undefined) return concat(blsField(x), blsField(y));
  }
}

/** Points outside of the subgroup: of G2 of BLS12-381, with its negative. */
export function g2Outside(): { point: Uint8Array; negative: Uint8Array } {
  const { x, y } = complexPoint([4n, 4n], BLS_P);
  const encode = (...parts: bigint[]) => concat(...parts.map(blsField));
  return { point: encode(...x, ...y), negative: encode(...x, BLS_P - y[0], BLS_P - y[1]) };
}

function bn254G2Outside(): Uint8Array {
  const inverse = power(82n, BN_P - 2n, BN_P);
  // 3 / (9 + i).
  const { x, y } = complexPoint([(27n * inverse) % BN_P, ((BN_P - 3n) * inverse) % BN_P], BN_P);
  return concat(word(x[1]), word(x[0]), word(y[1]), word(y[0]));
}

function negativeOf(point: Uint8Array, p: bigint): Uint8Array {
  const half = point.length / 2;
  const y = BigInt(`0x${Buffer.from(point.subarray(half)).toString("hex")}`);
  return concat(point.subarray(0, half), word(p - y, half));
}

function pointEvaluation({
  commitment = bytes(G1_GENERATOR),
  z = SCALAR,
  y = word(1),
  proof = concat(Uint8Array.of(0xc0), zeros(47)),
}: Partial<Record<"commitment" | "z" | "y" | "proof", Uint8Array>>): Uint8Array {
  const hash = createHash("sha256").update(commitment).digest();
  hash[0] = 1;
  return concat(hash, z, y, commitment, proof);
}

const flagged = (flags: number): Uint8Array => concat(Uint8Array.of(flags), zeros(47));

const bn254: Case[] = [
  {
    name: "BN254 addition",
    address: 6,
    inputs: () => {
      const [one, other] = [bn254Point(1), bn254Point(2)];
      return [
        ...[bn254AddInput(), concat(one, one), concat(one, negativeOf(one, BN_P)), concat(one, zeros(64)), ZERO],
        ...[
          concat(one, other, word(5)),
          one.subarray(0, 40),
          concat(word(1), word(3)),
          concat(word(1), word(BN_P + 2n)),
        ],
        ...[concat(word(BN_P), word(0)), concat(zeros(64), other), concat(word(0), word(BN_P))],
      ];
    },
  },
  {
    name: "BN254 multiplication",
    address: 7,
    inputs: () => {
      const point = bn254Point(1);
      return [
        ...[
          bn254MulInput(),
          ...[0n, 1n, 2n, BN_ORDER - 1n, BN_ORDER, BN_ORDER + 1n].map((k) => concat(point, word(k))),
        ],
        ...[concat(zeros(64), SCALAR), ZERO, point, concat(word(1), word(3), word(2)), concat(point, SCALAR, SCALAR)],
      ];
    },
  },
  {
    name: "BN254 pairing",
    address: 8,
    inputs: () => {
      const [point, generator] = [bn254Point(1), bytes(BN254_G2_GENERATOR)];
      const first = concat(point, generator);
      return [
        ...[first, concat(first, negativeOf(point, BN_P), generator), bn254PairingInput(2), ZERO, first.subarray(1)],
        ...[concat(zeros(64), generator), concat(point, zeros(128)), zeros(192), concat(zeros(64), bn254G2Outside())],
        ...[concat(point, bn254G2Outside()), concat(point, word(BN_P), generator.subarray(32))],
        ...[concat(point, generator.subarray(0, 96), word(7)), concat(word(1), word(3), generator)],
      ];
    },
  },
];

const bls12381: Case[] = [
  {
    name: "BLS addition in G1",
    address: 0xb,
    inputs: () => {
      const [point, outside] = [g1Point(1), g1Outside()];
      return [
        ...[g1AddInput(), concat(point, point), concat(point, negativeOf(point, BLS_P)), concat(point, zeros(128))],
        ...[zeros(256), concat(outside, point), concat(outside, outside), ZERO, point, concat(point, point, point)],
        ...[concat(point, blsField(1n), blsField(1n)), concat(point, blsField(BLS_P), blsField(0n))],
        concat(Uint8Array.of(1), g1AddInput().subarray(1)),
      ];
    },
  },
  {
    name: "BLS sum in G1",
    address: 0xc,
    inputs: () => {
      const point = g1Point(1);
      const scalars = [0n, 1n, BLS_ORDER - 1n, BLS_ORDER, BLS_ORDER + 1n, 2n ** 256n - 1n];
      return [
        ...[g1MsmInput(1), g1MsmInput(3), ...scalars.map((scalar) => concat(point, word(scalar)))],
        ...[concat(zeros(128), SCALAR), concat(zeros(128), SCALAR, point, SCALAR), concat(g1Outside(), SCALAR)],
        ...[concat(g1Outside(), word(0)), ZERO, point, concat(blsField(1n), blsField(1n), SCALAR)],
      ];
    },
  },
  {
    name: "BLS addition in G2",
    address: 0xd,
    inputs: () => {
      const point = g2Point(1);
      return [
        ...[g2AddInput(), concat(point, point), concat(point, zeros(256)), zeros(512), ZERO, point],
        ...[concat(point, zeros(255), Uint8Array.of(1)), concat(point, blsField(BLS_P), zeros(192))],
      ];
    },
  },
  {
    name: "BLS sum in G2",
    address: 0xe,
    inputs: () => {
      const point = g2Point(1);
      const scalars = [0n, 1n, BLS_ORDER, BLS_ORDER + 1n];
      return [
        ...[g2MsmInput(1), g2MsmInput(3), ...scalars.map((scalar) => concat(point, word(scalar)))],
        ...[concat(zeros(256), SCALAR), concat(g2Outside().point, SCALAR), concat(g2Outside().point, word(0)), ZERO],
        point,
      ];
    },
  },
  {
    name: "BLS pairing",
    address: 0xf,
    inputs: () => {
      const [one, two] = [g1Point(1), g2Point(1)];
      return [
        ...[concat(one, two), concat(one, two, negativeOf(one, BLS_P), two), blsPairingInput(2), ZERO, one],
        ...[concat(zeros(128), two), concat(one, zeros(256)), zeros(384)],
        ...[concat(g1Outside(), zeros(256)), concat(one, g2Outside().point), concat(zeros(128), g2Outside().point)],
      ];
    },
  },
  {
    name: "BLS map to G1",
    address: 0x10,
    inputs: () => [
      mapG1Input(),
      ...[0n, 1n, BLS_P - 1n, BLS_P].map(blsField),
      ...[ZERO, zeros(63), concat(Uint8Array.of(1), mapG1Input().subarray(1))],
    ],
  },
  {
    name: "BLS map to G2",
    address: 0x11,
    inputs: () => [
      mapG2Input(),
      ...[zeros(128), concat(blsField(BLS_P - 1n), blsField(1n)), concat(blsField(1n), blsField(BLS_P)), ZERO],
    ],
  },
];

export const CASES: readonly Case[] = [
  ...bn254,
  {
    name: "BLAKE2",
    address: 9,
    inputs: () => [
      ...[12, 0, 1, 9, 10, 11, 25].map(blake2Input),
      ...[ZERO, blake2Input(1).subarray(1), concat(blake2Input(1), Uint8Array.of(0))],
      ...[0, 2, 255].map((flag) => concat(blake2Input(3).subarray(0, 212), Uint8Array.of(flag))),
    ],
  },
  {
    name: "point evaluation",
    address: 0xa,
    inputs: () => [
      pointEvaluationInput(),
      // A constant polynomial, whose quotient is zero.
      ...[pointEvaluation({}), pointEvaluation({ y: word(2) }), pointEvaluation({ z: word(0) })],
      ...[pointEvaluation({ z: word(BLS_ORDER) }), pointEvaluation({ y: word(BLS_ORDER + 1n) })],
      pointEvaluation({ commitment: flagged(0xc0), y: word(0) }),
      // Malformed points: each flag, not on the curve, outside of the field.
      ...[0x00, 0x40, 0x80, 0xa0, 0xe0].map((flags) => pointEvaluation({ proof: flagged(flags) })),
      pointEvaluation({ proof: concat(Uint8Array.of(0xc0), zeros(46), Uint8Array.of(1)) }),
      ...[1, 2, 3, 4, 5].map((x) =>
        pointEvaluation({ proof: concat(Uint8Array.of(0x80), zeros(46), Uint8Array.of(x)) }),
      ),
      pointEvaluation({ commitment: new Uint8Array(48).fill(0xff) }),
      ...[ZERO, pointEvaluation({}).subarray(1), concat(pointEvaluation({}), Uint8Array.of(0))],
    ],
  },
  ...bls12381,
  {
    name: "P-256",
    address: 0x100,
    inputs: () => {
      const valid = p256Input();
      const withWord = (index: number, value: Uint8Array) =>
        concat(valid.subarray(0, 32 * index), value, valid.subarray(32 * index + 32));
      const order: Uint8Array = word(0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n);
      const replaced = [zeros(32), order, word(1), word(2n ** 256n - 1n)].flatMap((value: Uint8Array) =>
        [0, 1, 2, 3, 4].map((index) => withWord(index, value)),
      );
      return [valid, ...replaced, ZERO, valid.subarray(1), concat(valid, Uint8Array.of(0))];
    },
  },
];

/** Changes a byte of an input, at positions and by values that depend on a seed. */
export function mutated(input: Uint8Array, seed: number): Uint8Array {
  const random = createHash("sha256").update(`${seed}`).digest();
  const changed = input.slice();
  changed[random.readUInt32LE(0) % input.length]! ^= random[4]! || 1;
  return changed;
}
