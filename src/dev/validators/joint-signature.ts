import type { SecretKey, Signature } from "@chainsafe/blst";
import type { DeferredSignature } from "../../chain/pools/pooled-signature.ts";
import { makeSignature, type SigningRequest, signingRequest } from "./signing-request.ts";
import type { SigningThread } from "./signing-thread.ts";

/** Of the groups of BLS12-381. */
const GROUP_ORDER = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001n;

/**
 * The signature of several validators over one message, made with the sum of their secret keys: to the byte what their
 * signatures add up to, at the price of one.
 */
export class JointSignature implements DeferredSignature {
  readonly #signingRoot: Uint8Array;
  readonly #keySum: bigint;
  readonly #thread: SigningThread | undefined;
  #signature: Signature | undefined;

  /** @param thread where it can be signed ahead; left out where nobody does */
  constructor(signingRoot: Uint8Array, secretKeys: Iterable<bigint>, thread?: SigningThread) {
    this.#signingRoot = signingRoot;
    this.#thread = thread;
    let sum = 0n;
    for (const secretKey of secretKeys) sum += secretKey;
    this.#keySum = sum % GROUP_ORDER;
  }

  sign(): Signature {
    this.#signature ??= this.#thread?.signedAhead(this.#request) ?? makeSignature(this.#request);
    return this.#signature;
  }

  signAhead(): void {
    if (!this.#signature) this.#thread?.signAhead(this.#request);
  }

  joinedWith(other: DeferredSignature): JointSignature | null {
    if (!(other instanceof JointSignature)) return null;
    if (Buffer.compare(other.#signingRoot, this.#signingRoot) !== 0) return null;
    return new JointSignature(this.#signingRoot, [this.#keySum, other.#keySum], this.#thread);
  }

  get #request(): SigningRequest {
    return signingRequest(this.#keySum, this.#signingRoot);
  }
}

/** A secret key as the number that it is. */
export function toScalar(secretKey: SecretKey): bigint {
  return BigInt(secretKey.toHex());
}
