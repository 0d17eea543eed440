import { SecretKey, type Signature } from "@chainsafe/blst";
import type { DeferredSignature } from "../../chain/pools/pooled-signature.ts";

/** Of the groups of BLS12-381. */
const GROUP_ORDER = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001n;
const KEY_BYTES = 32;

/**
 * The signature of several validators over one message, made with the sum of their secret keys: to the byte what their
 * signatures add up to, at the price of one.
 */
export class JointSignature implements DeferredSignature {
  readonly #signingRoot: Uint8Array;
  readonly #keySum: bigint;
  #signature: Signature | undefined;

  constructor(signingRoot: Uint8Array, secretKeys: Iterable<bigint>) {
    this.#signingRoot = signingRoot;
    let sum = 0n;
    for (const secretKey of secretKeys) sum += secretKey;
    this.#keySum = sum % GROUP_ORDER;
  }

  sign(): Signature {
    this.#signature ??= toSecretKey(this.#keySum).sign(this.#signingRoot);
    return this.#signature;
  }

  joinedWith(other: DeferredSignature): JointSignature | null {
    if (!(other instanceof JointSignature)) return null;
    if (Buffer.compare(other.#signingRoot, this.#signingRoot) !== 0) return null;
    return new JointSignature(this.#signingRoot, [this.#keySum, other.#keySum]);
  }
}

/** A secret key as the number that it is. */
export function toScalar(secretKey: SecretKey): bigint {
  return BigInt(secretKey.toHex());
}

function toSecretKey(scalar: bigint): SecretKey {
  return SecretKey.fromBytes(Buffer.from(scalar.toString(16).padStart(2 * KEY_BYTES, "0"), "hex"));
}
