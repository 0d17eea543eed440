import type { SecretKey, Signature } from "@chainsafe/blst";
import type { DeferredSignature } from "../../chain/pools/pooled-signature.ts";
import { type SigningRequest, signingRequest, signRequest } from "./signing-request.ts";
import type { SigningThread } from "./signing-thread.ts";

/** Order of the BLS12-381 groups. */
const GROUP_ORDER = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001n;

/**
 * Aggregate signature of several validators over one message, signed lazily with the sum of their secret keys. Equals
 * the aggregate of the individual signatures, at the cost of one.
 */
export class LazyAggregateSignature implements DeferredSignature {
  readonly #signingRoot: Uint8Array;
  readonly #keySum: bigint;
  readonly #thread: SigningThread | undefined;
  #signature: Signature | undefined;

  /** @param thread signs ahead of time; if omitted, `signAhead` does nothing */
  constructor(signingRoot: Uint8Array, secretKeys: Iterable<bigint>, thread?: SigningThread) {
    this.#signingRoot = signingRoot;
    this.#thread = thread;
    let sum = 0n;
    for (const secretKey of secretKeys) sum += secretKey;
    this.#keySum = sum % GROUP_ORDER;
  }

  sign(): Signature {
    this.#signature ??= this.#thread?.sign(this.#request) ?? signRequest(this.#request);
    return this.#signature;
  }

  signAhead(): void {
    if (!this.#signature) this.#thread?.signAhead(this.#request);
  }

  joinedWith(other: DeferredSignature): LazyAggregateSignature | null {
    if (!(other instanceof LazyAggregateSignature)) return null;
    if (Buffer.compare(other.#signingRoot, this.#signingRoot) !== 0) return null;
    return new LazyAggregateSignature(this.#signingRoot, [this.#keySum, other.#keySum], this.#thread);
  }

  get #request(): SigningRequest {
    return signingRequest(this.#keySum, this.#signingRoot);
  }
}

/** Converts a secret key to its scalar. */
export function toScalar(secretKey: SecretKey): bigint {
  return BigInt(secretKey.toHex());
}
