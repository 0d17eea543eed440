import { aggregateSerializedSignatures } from "@chainsafe/blst";
import {
  DOMAIN_BEACON_ATTESTER,
  DOMAIN_BEACON_PROPOSER,
  DOMAIN_BLS_TO_EXECUTION_CHANGE,
  ForkName,
} from "@lodestar/params";
import { computeSigningRoot, computeStartSlotAtEpoch } from "@lodestar/state-transition";
import {
  type AttesterSlashing,
  type capella,
  type Epoch,
  type phase0,
  type Slot,
  ssz,
  type ValidatorIndex,
} from "@lodestar/types";
import { ValidatorSigner } from "../../../src/dev/validators/signer.ts";
import type { HandDrivenChain } from "./by-hand.ts";

/** Operations of the validators of a dev chain, signed with their keys or, for invalid ones, with another key. */
export class SignedOperations {
  readonly #devChain: HandDrivenChain;
  readonly #signer: ValidatorSigner;

  constructor(devChain: HandDrivenChain) {
    this.#devChain = devChain;
    this.#signer = new ValidatorSigner(devChain.config, devChain.keys);
  }

  exit(validatorIndex: ValidatorIndex, { epoch = 0, by = validatorIndex } = {}): phase0.SignedVoluntaryExit {
    const { config, clock } = this.#devChain;
    const message = { epoch, validatorIndex };
    const domain = config.getDomainForVoluntaryExit(clock.currentSlot, computeStartSlotAtEpoch(epoch));
    const signature = this.#signer.sign(by, computeSigningRoot(ssz.phase0.VoluntaryExit, message, domain));
    return { message, signature };
  }

  /** Two blocks of one validator in one slot. */
  doubleProposal(
    proposerIndex: ValidatorIndex,
    slot: Slot,
    { by = proposerIndex, differ = true } = {},
  ): phase0.ProposerSlashing {
    const header = (mark: number): phase0.SignedBeaconBlockHeaderBigint => {
      const message: phase0.BeaconBlockHeaderBigint = {
        slot: BigInt(slot),
        proposerIndex,
        parentRoot: new Uint8Array(32),
        stateRoot: new Uint8Array(32),
        bodyRoot: new Uint8Array(32).fill(mark),
      };
      const type = ssz.phase0.BeaconBlockHeaderBigint;
      const signingRoot = this.#signer.signingRoot(type, message, DOMAIN_BEACON_PROPOSER, slot);
      return { message, signature: this.#signer.sign(by, signingRoot) };
    };
    return { signedHeader1: header(1), signedHeader2: header(differ ? 2 : 1) };
  }

  /** Two attestations of the same validators to one target. */
  doubleVote(
    attesters: readonly ValidatorIndex[],
    target: Epoch,
    { by = attesters, differ = true }: { by?: readonly ValidatorIndex[]; differ?: boolean } = {},
  ): AttesterSlashing {
    const attestation = (mark: number): phase0.IndexedAttestationBigint => {
      const slot = computeStartSlotAtEpoch(target);
      const data: phase0.AttestationDataBigint = {
        slot: BigInt(slot),
        index: 0n,
        beaconBlockRoot: new Uint8Array(32).fill(mark),
        source: { epoch: 0n, root: new Uint8Array(32) },
        target: { epoch: BigInt(target), root: new Uint8Array(32).fill(mark) },
      };
      const type = ssz.phase0.AttestationDataBigint;
      const signingRoot = this.#signer.signingRoot(type, data, DOMAIN_BEACON_ATTESTER, slot);
      const signatures = by.map((attester) => this.#signer.sign(attester, signingRoot));
      const signature = aggregateSerializedSignatures(signatures).toBytes();
      return { attestingIndices: attesters.slice(), data, signature };
    };
    return { attestation1: attestation(1), attestation2: attestation(differ ? 2 : 1) };
  }

  credentialsChange(
    validatorIndex: ValidatorIndex,
    toExecutionAddress: Uint8Array,
    { by = validatorIndex, key = validatorIndex } = {},
  ): capella.SignedBLSToExecutionChange {
    const { config, keys } = this.#devChain;
    const message = { validatorIndex, fromBlsPubkey: keys.publicKey(key)!, toExecutionAddress };
    const domain = config.getDomainAtFork(ForkName.phase0, DOMAIN_BLS_TO_EXECUTION_CHANGE);
    const signature = this.#signer.sign(by, computeSigningRoot(ssz.capella.BLSToExecutionChange, message, domain));
    return { message, signature };
  }
}
