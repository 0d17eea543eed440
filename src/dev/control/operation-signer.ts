import { aggregateSerializedSignatures } from "@chainsafe/blst";
import type { BeaconConfig } from "@lodestar/config";
import {
  DOMAIN_BEACON_ATTESTER,
  DOMAIN_BEACON_PROPOSER,
  DOMAIN_BLS_TO_EXECUTION_CHANGE,
  ForkName,
} from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  computeSigningRoot,
  computeStartSlotAtEpoch,
} from "@lodestar/state-transition";
import { type AttesterSlashing, type capella, type phase0, ssz, type ValidatorIndex } from "@lodestar/types";
import type { ValidatorKeys } from "../validator-keys.ts";
import { ValidatorSigner } from "../validators/signer.ts";

/** Signs operations on behalf of validators. Slashable messages are not recorded in the slashing protection. */
export class OperationSigner {
  readonly #config: BeaconConfig;
  readonly #signer: ValidatorSigner;

  constructor(config: BeaconConfig, keys: ValidatorKeys) {
    this.#config = config;
    this.#signer = new ValidatorSigner(config, keys);
  }

  exit({ epochCtx, slot }: CachedBeaconStateAllForks, index: ValidatorIndex): phase0.SignedVoluntaryExit {
    const message = { epoch: epochCtx.epoch, validatorIndex: index };
    const domain = this.#config.getDomainForVoluntaryExit(slot, computeStartSlotAtEpoch(message.epoch));
    return {
      message,
      signature: this.#signer.sign(index, computeSigningRoot(ssz.phase0.VoluntaryExit, message, domain)),
    };
  }

  /** Uses the signing key, which must also be the withdrawal key. */
  credentialsChange(
    validatorIndex: ValidatorIndex,
    fromBlsPubkey: Uint8Array,
    toExecutionAddress: Uint8Array,
  ): capella.SignedBLSToExecutionChange {
    const message = { validatorIndex, fromBlsPubkey, toExecutionAddress };
    const domain = this.#config.getDomainAtFork(ForkName.phase0, DOMAIN_BLS_TO_EXECUTION_CHANGE);
    const signingRoot = computeSigningRoot(ssz.capella.BLSToExecutionChange, message, domain);
    return { message, signature: this.#signer.sign(validatorIndex, signingRoot) };
  }

  /** Creates two conflicting block headers for the same slot. */
  doubleProposal({ slot }: CachedBeaconStateAllForks, proposerIndex: ValidatorIndex): phase0.ProposerSlashing {
    const type = ssz.phase0.BeaconBlockHeaderBigint;
    const header = (mark: number): phase0.SignedBeaconBlockHeaderBigint => {
      const message = {
        ...type.defaultValue(),
        slot: BigInt(slot),
        proposerIndex,
        bodyRoot: new Uint8Array(32).fill(mark),
      };
      const signingRoot = this.#signer.signingRoot(type, message, DOMAIN_BEACON_PROPOSER, slot);
      return { message, signature: this.#signer.sign(proposerIndex, signingRoot) };
    };
    return { signedHeader1: header(1), signedHeader2: header(2) };
  }

  /** Creates two conflicting attestations with the same target epoch. */
  doubleVote({ slot, epochCtx }: CachedBeaconStateAllForks, attesters: ValidatorIndex[]): AttesterSlashing {
    const type = ssz.phase0.AttestationDataBigint;
    const attestation = (mark: number): phase0.IndexedAttestationBigint => {
      const beaconBlockRoot = new Uint8Array(32).fill(mark);
      const target = { epoch: BigInt(epochCtx.epoch), root: beaconBlockRoot };
      const data = { ...type.defaultValue(), slot: BigInt(slot), beaconBlockRoot, target };
      const signingRoot = this.#signer.signingRoot(type, data, DOMAIN_BEACON_ATTESTER, slot);
      const signatures = attesters.map((attester) => this.#signer.sign(attester, signingRoot));
      return { attestingIndices: attesters, data, signature: aggregateSerializedSignatures(signatures).toBytes() };
    };
    return { attestation1: attestation(1), attestation2: attestation(2) };
  }
}
