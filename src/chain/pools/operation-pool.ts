import { BLS_WITHDRAWAL_PREFIX, FAR_FUTURE_EPOCH, type ForkName, ForkSeq } from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  computeEpochAtSlot,
  getAttesterSlashableIndices,
} from "@lodestar/state-transition";
import {
  type AttesterSlashing,
  type capella,
  type Epoch,
  type phase0,
  sszTypesFor,
  type ValidatorIndex,
} from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { AddOutcome } from "./aggregate-set.ts";
import type { HeldOperations, Signed } from "./held-operations.ts";
import { type BlockOperations, selectOperations } from "./operation-selection.ts";
import { type DumpedOperations, readDump, writeDump } from "./pool-storage.ts";

/**
 * Maximum number of redundant slashings, because a validator can sign any number of slashable pairs. At the limit, only
 * slashings of new offenders are added.
 */
const MAX_REDUNDANT_ATTESTER_SLASHINGS = 1024;

/**
 * Pending slashings, exits and credential changes. Callers validate them. `verifiedAt` is the fork for which the
 * signatures were verified; they are not verified again for blocks of that fork.
 */
export class OperationPool {
  #operations: HeldOperations = {
    proposerSlashings: new Map(),
    attesterSlashings: new Map(),
    voluntaryExits: new Map(),
    blsToExecutionChanges: new Map(),
  };

  capture(): HeldOperations {
    const { proposerSlashings, attesterSlashings, voluntaryExits, blsToExecutionChanges } = this.#operations;
    return {
      proposerSlashings: new Map(proposerSlashings),
      attesterSlashings: new Map(attesterSlashings),
      voluntaryExits: new Map(voluntaryExits),
      blsToExecutionChanges: new Map(blsToExecutionChanges),
    };
  }

  /** Replaces all operations. */
  restore(operations: HeldOperations): void {
    this.#operations = operations;
  }

  addProposerSlashing(slashing: phase0.ProposerSlashing, verifiedAt?: ForkSeq): AddOutcome {
    const proposer = slashing.signedHeader1.message.proposerIndex;
    return addOnce(this.#operations.proposerSlashings, proposer, signed(slashing, verifiedAt));
  }

  addAttesterSlashing(slashing: AttesterSlashing, fork: ForkName, verifiedAt?: ForkSeq): AddOutcome {
    const slashings = this.#operations.attesterSlashings;
    const slashableIndices = getAttesterSlashableIndices(slashing);
    if (slashings.size >= MAX_REDUNDANT_ATTESTER_SLASHINGS && this.hasAttesterSlashingFor(slashableIndices)) {
      return "known";
    }
    return addOnce(slashings, attesterSlashingKey(slashing, fork), {
      ...signed(slashing, verifiedAt),
      fork,
      slashableIndices,
    });
  }

  addVoluntaryExit(exit: phase0.SignedVoluntaryExit, verifiedAt?: ForkSeq): AddOutcome {
    return addOnce(this.#operations.voluntaryExits, exit.message.validatorIndex, signed(exit, verifiedAt));
  }

  addBlsToExecutionChange(change: capella.SignedBLSToExecutionChange): AddOutcome {
    return addOnce(this.#operations.blsToExecutionChanges, change.message.validatorIndex, change);
  }

  hasProposerSlashing(proposer: ValidatorIndex): boolean {
    return this.#operations.proposerSlashings.has(proposer);
  }

  /** Returns true if each of the validators is an offender in a pooled slashing. */
  hasAttesterSlashingFor(indices: readonly ValidatorIndex[]): boolean {
    const missing = new Set(indices);
    for (const { slashableIndices } of this.#operations.attesterSlashings.values()) {
      if (missing.size === 0) break;
      for (const index of slashableIndices) missing.delete(index);
    }
    return missing.size === 0;
  }

  hasVoluntaryExit(validator: ValidatorIndex): boolean {
    return this.#operations.voluntaryExits.has(validator);
  }

  hasBlsToExecutionChange(validator: ValidatorIndex): boolean {
    return this.#operations.blsToExecutionChanges.has(validator);
  }

  /** Returns the pending credential change for a validator. */
  blsToExecutionChangeOf(validator: ValidatorIndex): capella.SignedBLSToExecutionChange | undefined {
    return this.#operations.blsToExecutionChanges.get(validator);
  }

  listProposerSlashings(): phase0.ProposerSlashing[] {
    return Array.from(this.#operations.proposerSlashings.values(), ({ operation }) => operation);
  }

  listAttesterSlashings(): AttesterSlashing[] {
    return Array.from(this.#operations.attesterSlashings.values(), ({ operation }) => operation);
  }

  listVoluntaryExits(): phase0.SignedVoluntaryExit[] {
    return Array.from(this.#operations.voluntaryExits.values(), ({ operation }) => operation);
  }

  listBlsToExecutionChanges(): capella.SignedBLSToExecutionChange[] {
    return [...this.#operations.blsToExecutionChanges.values()];
  }

  get sizes(): Record<keyof HeldOperations, number> {
    const { proposerSlashings, attesterSlashings, voluntaryExits, blsToExecutionChanges } = this.#operations;
    return {
      proposerSlashings: proposerSlashings.size,
      attesterSlashings: attesterSlashings.size,
      voluntaryExits: voluntaryExits.size,
      blsToExecutionChanges: blsToExecutionChanges.size,
    };
  }

  /** Selects operations for a block on `state`, which must be at the block's slot. Leaves them in the pool. */
  forBlock(state: CachedBeaconStateAllForks): BlockOperations {
    return selectOperations(this.#operations, state);
  }

  /**
   * Drops operations that can no longer be included, because they are already applied in the finalized state or are
   * signed for a fork that is too old.
   */
  prune(finalizedState: CachedBeaconStateAllForks): void {
    const { proposerSlashings, attesterSlashings, voluntaryExits, blsToExecutionChanges } = this.#operations;
    const epoch = computeEpochAtSlot(finalizedState.slot);
    const { validators } = finalizedState;
    const isDone = (index: ValidatorIndex, test: (validator: phase0.Validator) => boolean) =>
      index < validators.length && test(validators.getReadonly(index));
    const isBeyondSlashing = (index: ValidatorIndex) =>
      isDone(index, (validator) => canNeverBeSlashed(validator, epoch));

    const { config } = finalizedState.epochCtx;
    const fork = config.getForkSeq(finalizedState.slot);
    // A state contains only the versions of its own fork and of the previous fork (get_domain).
    const isOfForgottenFork = (signedEpoch: Epoch) => fork - config.getForkSeqAtEpoch(signedEpoch) > 1;

    for (const [proposer, { operation }] of proposerSlashings) {
      const slot = Number(operation.signedHeader1.message.slot);
      if (isBeyondSlashing(proposer) || isOfForgottenFork(computeEpochAtSlot(slot))) proposerSlashings.delete(proposer);
    }
    for (const [key, { operation, slashableIndices }] of attesterSlashings) {
      const votes = [operation.attestation1, operation.attestation2];
      const isForgotten = votes.some(({ data }) => isOfForgottenFork(Number(data.target.epoch)));
      if (isForgotten || slashableIndices.every(isBeyondSlashing)) attesterSlashings.delete(key);
    }
    for (const [index, { operation, signatureVerdicts }] of voluntaryExits) {
      const { epoch: exitEpoch } = operation.message;
      // From Deneb on, exits are signed with the Capella domain regardless of epoch (EIP-7044), so Capella exits stay
      // valid.
      const isForgotten =
        fork < ForkSeq.deneb
          ? isOfForgottenFork(exitEpoch)
          : config.getForkSeqAtEpoch(exitEpoch) < ForkSeq.capella && signedBefore(ForkSeq.deneb, signatureVerdicts);
      if (isForgotten || isDone(index, hasInitiatedExit)) voluntaryExits.delete(index);
    }
    for (const index of blsToExecutionChanges.keys()) {
      if (isDone(index, (validator) => !hasBlsCredentials(validator))) blsToExecutionChanges.delete(index);
    }
  }

  /** Serializes all operations as SSZ lists. */
  dump(): DumpedOperations[] {
    return writeDump(this.#operations);
  }

  /** Adds operations serialized by `dump`. */
  load(dumped: Iterable<{ readonly kind: string; readonly bytes: Uint8Array }>): void {
    readDump(dumped, this);
  }
}

function signed<Operation>(operation: Operation, verifiedAt: ForkSeq | undefined): Signed<Operation> {
  return { operation, signatureVerdicts: new Map(verifiedAt === undefined ? [] : [[verifiedAt, true]]) };
}

/** Returns true if the signature was valid in an earlier fork. */
function signedBefore(fork: ForkSeq, verdicts: Signed<unknown>["signatureVerdicts"]): boolean {
  for (const [at, isGood] of verdicts) if (isGood && at < fork) return true;
  return false;
}

function addOnce<Key, Value>(pooled: Map<Key, Value>, key: Key, value: Value): AddOutcome {
  if (pooled.has(key)) return "known";
  pooled.set(key, value);
  return "added";
}

/** Returns a key that does not depend on the order of the two attestations. */
function attesterSlashingKey({ attestation1, attestation2 }: AttesterSlashing, fork: ForkName): string {
  const type = sszTypesFor(fork).IndexedAttestationBigint;
  return [attestation1, attestation2]
    .map((attestation) => toRootHex(type.hashTreeRoot(attestation)))
    .sort()
    .join();
}

/**
 * Returns true if the validator can never be slashed. A pending validator may become slashable
 * (is_slashable_validator).
 */
function canNeverBeSlashed({ slashed, withdrawableEpoch }: phase0.Validator, epoch: Epoch): boolean {
  return slashed || epoch >= withdrawableEpoch;
}

function hasInitiatedExit({ exitEpoch }: phase0.Validator): boolean {
  return exitEpoch !== FAR_FUTURE_EPOCH;
}

function hasBlsCredentials({ withdrawalCredentials }: phase0.Validator): boolean {
  return withdrawalCredentials[0] === BLS_WITHDRAWAL_PREFIX;
}
