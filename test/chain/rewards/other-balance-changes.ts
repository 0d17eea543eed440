import {
  EFFECTIVE_BALANCE_INCREMENT,
  EPOCHS_PER_SLASHINGS_VECTOR,
  ForkSeq,
  GENESIS_SLOT,
  MIN_SLASHING_PENALTY_QUOTIENT,
  MIN_SLASHING_PENALTY_QUOTIENT_ALTAIR,
  MIN_SLASHING_PENALTY_QUOTIENT_BELLATRIX,
  MIN_SLASHING_PENALTY_QUOTIENT_ELECTRA,
  PROPORTIONAL_SLASHING_MULTIPLIER,
  PROPORTIONAL_SLASHING_MULTIPLIER_ALTAIR,
  PROPORTIONAL_SLASHING_MULTIPLIER_BELLATRIX,
} from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  type CachedBeaconStateElectra,
  isActiveValidator,
} from "@lodestar/state-transition";
import { type capella, type electra, type SignedBeaconBlock, ssz, type ValidatorIndex } from "@lodestar/types";
import { toHex } from "@lodestar/utils";

type State = CachedBeaconStateAllForks;

export type ChangeKind =
  | "slashing"
  | "later slashing penalty"
  | "deposit"
  | "new validator"
  | "withdrawal"
  | "queued balance"
  | "consolidation";

/** Adds to a validator's expected balance, and records the kind of change. */
export type Change = (kind: ChangeKind, index: ValidatorIndex, amount: number) => void;

/** Computes balance changes of a block other than rewards, from the block and the states around it. */
export function changesOfBlock(before: State, { message }: SignedBeaconBlock, after: State, change: Change): void {
  const fork = before.config.getForkSeq(message.slot);
  if (fork >= ForkSeq.capella) {
    for (const { validatorIndex, amount } of (message.body as capella.BeaconBlockBody).executionPayload.withdrawals) {
      change("withdrawal", validatorIndex, -Number(amount));
    }
  }
  for (const [index, validator] of before.validators.getAllReadonlyValues().entries()) {
    if (validator.slashed || !after.validators.getReadonly(index).slashed) continue;
    change("slashing", index, -Math.floor(validator.effectiveBalance / minSlashingPenaltyQuotient(fork)));
  }
  if (fork >= ForkSeq.electra) {
    queuedBalances(after, (before as CachedBeaconStateElectra).pendingDeposits.length, change);
    return;
  }
  for (const { data } of message.body.deposits) {
    const index = indexOf(after, data.pubkey);
    change(index < before.validators.length ? "deposit" : "new validator", index, data.amount);
  }
}

/** The same for an epoch transition, which pays rewards first. `expected` returns the current expected balance. */
export function changesOfEpoch(
  before: State,
  after: State,
  change: Change,
  expected: (index: ValidatorIndex) => number,
): void {
  laterSlashingPenalties(before, change);
  if (before.config.getForkSeq(before.slot) < ForkSeq.electra) {
    if (after.config.getForkSeq(after.slot) >= ForkSeq.electra) queuedBalances(after, 0, change);
    return;
  }
  for (const { pubkey, amount } of appliedDeposits(before, after)) {
    const index = indexOf(after, pubkey);
    change(index < before.validators.length ? "deposit" : "new validator", index, amount);
  }
  const { pendingConsolidations } = before as CachedBeaconStateElectra;
  const done = pendingConsolidations.length - (after as CachedBeaconStateElectra).pendingConsolidations.length;
  for (const { sourceIndex, targetIndex } of pendingConsolidations.getAllReadonlyValues().slice(0, done)) {
    const { slashed, effectiveBalance } = before.validators.getReadonly(sourceIndex);
    if (slashed) continue;
    const moved = Math.min(expected(sourceIndex), effectiveBalance);
    change("consolidation", sourceIndex, -moved);
    change("consolidation", targetIndex, moved);
  }
}

/**
 * Balances that moved to the deposit queue, with the genesis slot: the excess over 32 ETH of validators that switched
 * to compounding, and at the electra fork all balances of validators that were not active yet.
 */
function queuedBalances(state: State, queuedBefore: number, change: Change): void {
  for (const { pubkey, amount, slot } of pendingDeposits(state).slice(queuedBefore)) {
    if (slot === GENESIS_SLOT) change("queued balance", indexOf(state, pubkey), -amount);
  }
}

/** process_slashings: correlation penalty, half of EPOCHS_PER_SLASHINGS_VECTOR after the slashing. */
function laterSlashingPenalties(state: State, change: Change): void {
  const fork = state.config.getForkSeq(state.slot);
  const { epoch } = state.epochCtx;
  const validators = state.validators.getAllReadonlyValues();
  const total = validators
    .filter((validator) => isActiveValidator(validator, epoch))
    .reduce((sum, { effectiveBalance }) => sum + effectiveBalance, 0);
  const slashed = state.slashings.getAll().reduce((sum, amount) => sum + amount, 0);
  const adjusted = BigInt(Math.min(slashed * slashingMultiplier(fork), total));
  const increment = BigInt(EFFECTIVE_BALANCE_INCREMENT);
  for (const [index, validator] of validators.entries()) {
    if (!validator.slashed || validator.withdrawableEpoch !== epoch + EPOCHS_PER_SLASHINGS_VECTOR / 2) continue;
    const increments = BigInt(validator.effectiveBalance) / increment;
    const penalty =
      fork >= ForkSeq.electra
        ? (adjusted / (BigInt(total) / increment)) * increments
        : ((increments * adjusted) / BigInt(total)) * increment;
    change("later slashing penalty", index, -Number(penalty));
  }
}

/** Returns deposits that left the queue. Deposits that wait for a withdrawal may be requeued at its end. */
function appliedDeposits(before: State, after: State): electra.PendingDeposit[] {
  const key = (deposit: electra.PendingDeposit) => toHex(ssz.electra.PendingDeposit.hashTreeRoot(deposit));
  const waiting = pendingDeposits(after).map(key);
  return pendingDeposits(before).filter((deposit) => {
    const position = waiting.indexOf(key(deposit));
    if (position < 0) return true;
    waiting.splice(position, 1);
    return false;
  });
}

function pendingDeposits(state: State): electra.PendingDeposit[] {
  return (state as CachedBeaconStateElectra).pendingDeposits.getAllReadonlyValues();
}

function indexOf(state: State, pubkey: Uint8Array): ValidatorIndex {
  return state.validators.getAllReadonlyValues().findIndex((validator) => toHex(validator.pubkey) === toHex(pubkey));
}

function minSlashingPenaltyQuotient(fork: ForkSeq): number {
  if (fork === ForkSeq.phase0) return MIN_SLASHING_PENALTY_QUOTIENT;
  if (fork === ForkSeq.altair) return MIN_SLASHING_PENALTY_QUOTIENT_ALTAIR;
  return fork < ForkSeq.electra ? MIN_SLASHING_PENALTY_QUOTIENT_BELLATRIX : MIN_SLASHING_PENALTY_QUOTIENT_ELECTRA;
}

function slashingMultiplier(fork: ForkSeq): number {
  if (fork === ForkSeq.phase0) return PROPORTIONAL_SLASHING_MULTIPLIER;
  return fork === ForkSeq.altair ? PROPORTIONAL_SLASHING_MULTIPLIER_ALTAIR : PROPORTIONAL_SLASHING_MULTIPLIER_BELLATRIX;
}
