import type { SecretKey } from "@chainsafe/blst";
import type { Type } from "@chainsafe/ssz";
import type { BeaconConfig } from "@lodestar/config";
import { DOMAIN_BEACON_ATTESTER, DOMAIN_RANDAO, DOMAIN_SYNC_COMMITTEE } from "@lodestar/params";
import { computeEpochAtSlot, computeSigningRoot } from "@lodestar/state-transition";
import {
  type BLSSignature,
  type DomainType,
  type Epoch,
  type phase0,
  type Root,
  type Slot,
  ssz,
  type ValidatorIndex,
} from "@lodestar/types";
import { MapDef } from "@lodestar/utils";
import type { ValidatorKeys } from "../validator-keys.ts";
import { LazyAggregateSignature, toScalar } from "./lazy-aggregate-signature.ts";
import { type SigningRequest, signingRequest, signRequest } from "./signing-request.ts";
import type { SigningThread } from "./signing-thread.ts";

/** Signs messages with the keys of our validators. */
export class ValidatorSigner {
  readonly #config: BeaconConfig;
  readonly #keys: ValidatorKeys;
  readonly #thread: SigningThread | undefined;
  readonly #scalars = new WeakMap<SecretKey, bigint>();
  readonly #randaoReveals = new MapDef<Epoch, Map<ValidatorIndex, BLSSignature>>(() => new Map());

  /** @param thread signs predictable messages ahead of time; optional */
  constructor(config: BeaconConfig, keys: ValidatorKeys, thread?: SigningThread) {
    this.#config = config;
    this.#keys = keys;
    this.#thread = thread;
  }

  /** True if the validator is ours. */
  owns(index: ValidatorIndex): boolean {
    return this.#keys.secretKey(index) !== undefined;
  }

  /** Computes the signing root of a message, using the domain for the slot's fork. */
  signingRoot<T>(type: Type<T>, message: T, domainType: DomainType, slot: Slot): Uint8Array {
    return computeSigningRoot(type, message, this.#config.getDomain(slot, domainType, slot));
  }

  /** Computes the signing root of attestations with this data. */
  attestationRoot(data: phase0.AttestationData): Uint8Array {
    return this.signingRoot(ssz.phase0.AttestationData, data, DOMAIN_BEACON_ATTESTER, data.slot);
  }

  /** Computes the signing root of sync committee messages for the block. */
  syncMessageRoot(blockRoot: Root, slot: Slot): Uint8Array {
    return this.signingRoot(ssz.Root, blockRoot, DOMAIN_SYNC_COMMITTEE, slot);
  }

  sign(index: ValidatorIndex, signingRoot: Uint8Array): BLSSignature {
    return this.#secretKey(index).sign(signingRoot).toBytes();
  }

  /** Returns a lazy signature. */
  signLazily(index: ValidatorIndex, signingRoot: Uint8Array): LazyAggregateSignature {
    return this.signAggregate([index], signingRoot);
  }

  /** Returns a lazy aggregate signature over one message. A repeated index signs twice. */
  signAggregate(indices: readonly ValidatorIndex[], signingRoot: Uint8Array): LazyAggregateSignature {
    return new LazyAggregateSignature(
      signingRoot,
      indices.map((index) => this.#scalar(index)),
      this.#thread,
    );
  }

  /**
   * Returns the RANDAO reveal for the slot's epoch. The reveal is cached, since it is the same for all blocks in the
   * epoch.
   */
  randaoReveal(index: ValidatorIndex, slot: Slot): BLSSignature {
    const epoch = computeEpochAtSlot(slot);
    const epochReveals = this.#randaoReveals.getOrDefault(epoch);
    let reveal = epochReveals.get(index);
    if (!reveal) {
      const request = this.#revealRequest(index, slot);
      reveal = (this.#thread?.sign(request) ?? signRequest(request)).toBytes();
      epochReveals.set(index, reveal);
    }
    return reveal;
  }

  /** Signs the RANDAO reveal for an upcoming slot ahead of time. */
  revealRandaoAhead(index: ValidatorIndex, slot: Slot): void {
    if (this.#randaoReveals.get(computeEpochAtSlot(slot))?.has(index)) return;
    this.#thread?.signAhead(this.#revealRequest(index, slot));
  }

  /** Drops cached reveals, because an index may belong to a different key after a revert. */
  clear(): void {
    this.#randaoReveals.clear();
  }

  pruneBefore(epoch: Epoch): void {
    for (const cachedEpoch of this.#randaoReveals.keys())
      if (cachedEpoch < epoch) this.#randaoReveals.delete(cachedEpoch);
  }

  #revealRequest(index: ValidatorIndex, slot: Slot): SigningRequest {
    const signingRoot = this.signingRoot(ssz.Epoch, computeEpochAtSlot(slot), DOMAIN_RANDAO, slot);
    return signingRequest(this.#scalar(index), signingRoot);
  }

  #secretKey(index: ValidatorIndex): SecretKey {
    const secretKey = this.#keys.secretKey(index);
    if (!secretKey) throw new RangeError(`Cannot sign for validator ${index}: its secret key is unknown.`);
    return secretKey;
  }

  #scalar(index: ValidatorIndex): bigint {
    const secretKey = this.#secretKey(index);
    let scalar = this.#scalars.get(secretKey);
    if (scalar === undefined) {
      scalar = toScalar(secretKey);
      this.#scalars.set(secretKey, scalar);
    }
    return scalar;
  }
}
