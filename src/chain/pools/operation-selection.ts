import {
  ForkSeq,
  MAX_ATTESTER_SLASHINGS,
  MAX_ATTESTER_SLASHINGS_ELECTRA,
  MAX_BLS_TO_EXECUTION_CHANGES,
  MAX_PROPOSER_SLASHINGS,
  MAX_VOLUNTARY_EXITS,
} from "@lodestar/params";
import {
  assertValidAttesterSlashing,
  assertValidProposerSlashing,
  BeaconStateView,
  type CachedBeaconStateAllForks,
  isSlashableValidator,
  isValidBlsToExecutionChange,
  isValidVoluntaryExit,
  verifyVoluntaryExitSignature,
} from "@lodestar/state-transition";
import type { AttesterSlashing, capella, phase0, ValidatorIndex } from "@lodestar/types";
import type { HeldAttesterSlashing, HeldOperations, Signed } from "./held-operations.ts";
import { type CoverSource, maxCover } from "./max-cover.ts";

export interface BlockOperations {
  proposerSlashings: phase0.ProposerSlashing[];
  attesterSlashings: AttesterSlashing[];
  voluntaryExits: phase0.SignedVoluntaryExit[];
  blsToExecutionChanges: capella.SignedBLSToExecutionChange[];
}

/**
 * Selects operations in processing order (`process_operations`), so that validators slashed by earlier operations are
 * known.
 */
export function selectOperations(pooled: HeldOperations, state: CachedBeaconStateAllForks): BlockOperations {
  const fork = state.epochCtx.config.getForkSeq(state.slot);
  const slashed = new Set<ValidatorIndex>();
  return {
    proposerSlashings: selectProposerSlashings(pooled, state, fork, slashed),
    attesterSlashings: selectAttesterSlashings(pooled, state, fork, slashed),
    voluntaryExits: selectVoluntaryExits(pooled, state, fork, slashed),
    blsToExecutionChanges: fork >= ForkSeq.capella ? selectBlsToExecutionChanges(pooled, state) : [],
  };
}

function selectProposerSlashings(
  { proposerSlashings }: HeldOperations,
  state: CachedBeaconStateAllForks,
  fork: ForkSeq,
  slashed: Set<ValidatorIndex>,
): phase0.ProposerSlashing[] {
  const { config, pubkeyCache } = state.epochCtx;
  const assertValid = (slashing: phase0.ProposerSlashing, proposer: phase0.Validator, signatures: boolean) =>
    assertValidProposerSlashing(config, pubkeyCache, state.slot, slashing, proposer, signatures);
  const selected: phase0.ProposerSlashing[] = [];
  for (const [proposerIndex, pooled] of proposerSlashings) {
    if (selected.length >= MAX_PROPOSER_SLASHINGS) break;
    if (proposerIndex >= state.validators.length) continue;
    const proposer = state.validators.getReadonly(proposerIndex);
    if (!holds(() => assertValid(pooled.operation, proposer, false))) continue;
    if (!hasGoodSignature(pooled, fork, () => holds(() => assertValid(pooled.operation, proposer, true)))) continue;
    selected.push(pooled.operation);
    slashed.add(proposerIndex);
  }
  return selected;
}

/** Prefers slashings with the largest total effective balance. Since Electra, only one slashing fits into a block. */
function selectAttesterSlashings(
  { attesterSlashings }: HeldOperations,
  state: CachedBeaconStateAllForks,
  fork: ForkSeq,
  slashed: Set<ValidatorIndex>,
): AttesterSlashing[] {
  const { config, pubkeyCache, epoch, effectiveBalanceIncrements } = state.epochCtx;
  const validatorCount = state.validators.length;
  const assertValid = (slashing: AttesterSlashing, signatures: boolean) =>
    assertValidAttesterSlashing(config, pubkeyCache, state.slot, validatorCount, slashing, signatures);

  const toSource = (
    candidate: HeldAttesterSlashing,
    slashedNow: Set<ValidatorIndex>,
  ): CoverSource<HeldAttesterSlashing> => {
    const offenders = candidate.slashableIndices.filter((index) =>
      isSlashableValidator(state.validators.getReadonly(index), epoch),
    );
    return {
      evaluate() {
        let gain = 0;
        for (const index of offenders) {
          if (!slashedNow.has(index)) gain += effectiveBalanceIncrements[index] ?? 0;
        }
        return gain > 0 ? { gain, choice: candidate } : null;
      },
      take() {
        for (const index of offenders) slashedNow.add(index);
      },
    };
  };

  const limit = fork >= ForkSeq.electra ? MAX_ATTESTER_SLASHINGS_ELECTRA : MAX_ATTESTER_SLASHINGS;
  let candidates = [...attesterSlashings.values()].filter((candidate) =>
    holds(() => assertValid(candidate.operation, false)),
  );
  // Verify only the signatures of chosen slashings, and choose again if one of them is invalid.
  for (;;) {
    const slashedNow = new Set(slashed);
    const slashings = maxCover(
      candidates.map((candidate) => toSource(candidate, slashedNow)),
      limit,
    );
    const isGood = (candidate: HeldAttesterSlashing) =>
      hasGoodSignature(candidate, fork, () => holds(() => assertValid(candidate.operation, true)));
    const invalid = new Set(slashings.filter((slashing) => !isGood(slashing)));
    if (invalid.size === 0) {
      for (const index of slashedNow) slashed.add(index);
      return slashings.map(({ operation }) => operation);
    }
    candidates = candidates.filter((candidate) => !invalid.has(candidate));
  }
}

function selectVoluntaryExits(
  { voluntaryExits }: HeldOperations,
  state: CachedBeaconStateAllForks,
  fork: ForkSeq,
  slashed: Set<ValidatorIndex>,
): phase0.SignedVoluntaryExit[] {
  const { config, pubkeyCache } = state.epochCtx;
  const view = new BeaconStateView(state);
  const selected: phase0.SignedVoluntaryExit[] = [];
  for (const [index, pooled] of voluntaryExits) {
    if (selected.length >= MAX_VOLUNTARY_EXITS) break;
    // The slashing has already initiated the exit (slash_validator).
    if (slashed.has(index) || !isValidVoluntaryExit(fork, state, pooled.operation, false)) continue;
    const verify = () => {
      try {
        return verifyVoluntaryExitSignature(config, pubkeyCache, view, pooled.operation);
      } catch {
        // The library throws on malformed signatures.
        return false;
      }
    };
    if (hasGoodSignature(pooled, fork, verify)) selected.push(pooled.operation);
  }
  return selected;
}

/** Credential changes are signed with the genesis fork domain in every fork (process_bls_to_execution_change). */
function selectBlsToExecutionChanges(
  { blsToExecutionChanges }: HeldOperations,
  state: CachedBeaconStateAllForks,
): capella.SignedBLSToExecutionChange[] {
  const selected: capella.SignedBLSToExecutionChange[] = [];
  for (const [index, change] of blsToExecutionChanges) {
    if (selected.length >= MAX_BLS_TO_EXECUTION_CHANGES) break;
    if (index >= state.validators.length) continue;
    const validator = state.validators.getReadonly(index);
    if (isValidBlsToExecutionChange(state.epochCtx.config, validator, change, false).valid) selected.push(change);
  }
  return selected;
}

function hasGoodSignature(pooled: Signed<unknown>, fork: ForkSeq, verify: () => boolean): boolean {
  let verdict = pooled.signatureVerdicts.get(fork);
  if (verdict === undefined) {
    verdict = verify();
    pooled.signatureVerdicts.set(fork, verdict);
  }
  return verdict;
}

/** Returns false if the library's assertion throws. */
function holds(assertion: () => void): boolean {
  try {
    assertion();
    return true;
  } catch {
    return false;
  }
}
