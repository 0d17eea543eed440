import type { SecretKey } from "@chainsafe/blst";
import type { Type } from "@chainsafe/ssz";
import type { BeaconConfig } from "@lodestar/config";
import { DOMAIN_RANDAO } from "@lodestar/params";
import { computeEpochAtSlot, computeSigningRoot } from "@lodestar/state-transition";
import { type BLSSignature, type DomainType, type Epoch, type Slot, ssz, type ValidatorIndex } from "@lodestar/types";
import { MapDef } from "@lodestar/utils";
import type { ValidatorKeys } from "../validator-keys.ts";
import { JointSignature, toScalar } from "./joint-signature.ts";
import { makeSignature, type SigningRequest, signingRequest } from "./signing-request.ts";
import type { SigningThread } from "./signing-thread.ts";

/** Signs for our validators. */
export class ValidatorSigner {
  readonly #config: BeaconConfig;
  readonly #keys: ValidatorKeys;
  readonly #thread: SigningThread | undefined;
  readonly #scalars = new Map<ValidatorIndex, bigint>();
  readonly #randaoReveals = new MapDef<Epoch, Map<ValidatorIndex, BLSSignature>>(() => new Map());

  /** @param thread what is known beforehand can be signed there; left out where nobody does */
  constructor(config: BeaconConfig, keys: ValidatorKeys, thread?: SigningThread) {
    this.#config = config;
    this.#keys = keys;
    this.#thread = thread;
  }

  /** Whether a validator is one of ours. */
  owns(index: ValidatorIndex): boolean {
    return this.#keys.secretKey(index) !== undefined;
  }

  /** What is signed for a message that belongs to a slot: the fork of that slot decides the domain. */
  signingRoot<T>(type: Type<T>, message: T, domainType: DomainType, slot: Slot): Uint8Array {
    return computeSigningRoot(type, message, this.#config.getDomain(slot, domainType, slot));
  }

  sign(index: ValidatorIndex, signingRoot: Uint8Array): BLSSignature {
    return this.#secretKey(index).sign(signingRoot).toBytes();
  }

  /** One signature of all of them over the same message, made when it is wanted; a validator that is named twice signs twice. */
  signJointly(indices: readonly ValidatorIndex[], signingRoot: Uint8Array): JointSignature {
    return new JointSignature(
      signingRoot,
      indices.map((index) => this.#scalar(index)),
      this.#thread,
    );
  }

  /** The same for all blocks of a proposer in an epoch, hence kept until `forgetBefore`. */
  randaoReveal(index: ValidatorIndex, slot: Slot): BLSSignature {
    const epoch = computeEpochAtSlot(slot);
    const ofEpoch = this.#randaoReveals.getOrDefault(epoch);
    let reveal = ofEpoch.get(index);
    if (!reveal) {
      const request = this.#revealRequest(index, slot);
      reveal = (this.#thread?.signedAhead(request) ?? makeSignature(request)).toBytes();
      ofEpoch.set(index, reveal);
    }
    return reveal;
  }

  /** The proposer of this slot will soon be asked for it. */
  revealAhead(index: ValidatorIndex, slot: Slot): void {
    if (this.#randaoReveals.get(computeEpochAtSlot(slot))?.has(index)) return;
    this.#thread?.signAhead(this.#revealRequest(index, slot));
  }

  forgetBefore(epoch: Epoch): void {
    for (const known of this.#randaoReveals.keys()) if (known < epoch) this.#randaoReveals.delete(known);
  }

  #revealRequest(index: ValidatorIndex, slot: Slot): SigningRequest {
    const signingRoot = this.signingRoot(ssz.Epoch, computeEpochAtSlot(slot), DOMAIN_RANDAO, slot);
    return signingRequest(this.#scalar(index), signingRoot);
  }

  #secretKey(index: ValidatorIndex): SecretKey {
    const secretKey = this.#keys.secretKey(index);
    if (!secretKey) throw new RangeError(`Validator ${index} cannot sign: its secret key is not one of ours.`);
    return secretKey;
  }

  #scalar(index: ValidatorIndex): bigint {
    let scalar = this.#scalars.get(index);
    if (scalar === undefined) {
      scalar = toScalar(this.#secretKey(index));
      this.#scalars.set(index, scalar);
    }
    return scalar;
  }
}
