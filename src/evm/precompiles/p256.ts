import { createECDH, type ECDH } from "node:crypto";

const WORD = 32;
/** Parameters of secp256r1. */
const P = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn;
const N = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const A = P - 3n;
const B = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn;

type Affine = readonly [x: bigint, y: bigint];

/**
 * Verifies an EIP-7951 signature. The input holds the hash, r, s and both coordinates of the public key, 32 bytes each.
 * OpenSSL is used only for multiplications, because it cannot verify a signature over a precomputed hash.
 */
export function verifyP256(input: Uint8Array): boolean {
  const [hash, r, s, x, y] = Array.from({ length: 5 }, (_, index) =>
    numberOf(input.subarray(index * WORD, (index + 1) * WORD)),
  ) as [bigint, bigint, bigint, bigint, bigint];
  if (r === 0n || r >= N || s === 0n || s >= N || x >= P || y >= P) return false;
  if (mod(y * y - (x * x + A) * x - B, P) !== 0n) return false;
  const inverse = invert((r * s) % N, N);
  // (hash / s) G + (r / s) Q = (r / s) ((hash / r) G + Q). Only x of the outer product is needed, as in a key exchange.
  const first = (hash * inverse * s) % N;
  const sum = first === 0n ? ([x, y] as const) : add([x, y], multiplyGenerator(first));
  if (sum === null) return false;
  return multiply(sum, (r * inverse * r) % N) % N === r;
}

function multiplyGenerator(scalar: bigint): Affine {
  const exchange = exchangeWith(scalar);
  const point = exchange.getPublicKey();
  return [numberOf(point.subarray(1, 1 + WORD)), numberOf(point.subarray(1 + WORD))];
}

/** Returns the x coordinate of a multiple of a point. */
function multiply([x, y]: Affine, scalar: bigint): bigint {
  const point = Buffer.concat([Uint8Array.of(4), bytesOf(x), bytesOf(y)]);
  return numberOf(exchangeWith(scalar).computeSecret(point));
}

function exchangeWith(scalar: bigint): ECDH {
  const exchange = createECDH("prime256v1");
  exchange.setPrivateKey(bytesOf(scalar));
  return exchange;
}

/** Adds two points. Returns null for the point at infinity. */
function add([x1, y1]: Affine, [x2, y2]: Affine): Affine | null {
  if (x1 === x2 && y1 !== y2) return null;
  const slope = x1 === x2 ? (3n * x1 * x1 + A) * invert(mod(2n * y1, P), P) : (y2 - y1) * invert(mod(x2 - x1, P), P);
  const x = mod(slope * slope - x1 - x2, P);
  return [x, mod(slope * (x1 - x) - y1, P)];
}

/** Returns the inverse modulo a prime, computed with the extended Euclidean algorithm. */
function invert(value: bigint, modulus: bigint): bigint {
  let [low, high, a, b] = [value, modulus, 1n, 0n];
  while (low > 1n) {
    const quotient = high / low;
    [low, high, a, b] = [high - quotient * low, low, b - quotient * a, a];
  }
  return mod(a, modulus);
}

function mod(value: bigint, modulus: bigint): bigint {
  const rest = value % modulus;
  return rest < 0n ? rest + modulus : rest;
}

const numberOf = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
const bytesOf = (value: bigint): Uint8Array => Buffer.from(value.toString(16).padStart(2 * WORD, "0"), "hex");
