import {
  BLS_WITHDRAWAL_PREFIX,
  FAR_FUTURE_EPOCH,
  type ForkName,
  ForkSeq,
  MIN_ACTIVATION_BALANCE,
  PENDING_CONSOLIDATIONS_LIMIT,
  PENDING_PARTIAL_WITHDRAWALS_LIMIT,
} from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  type CachedBeaconStateElectra,
  getConsolidationChurnLimit,
  getPendingBalanceToWithdraw,
  hasCompoundingWithdrawalCredential,
  hasEth1WithdrawalCredential,
  hasExecutionWithdrawalCredential,
  isActiveValidator,
  isSlashableValidator,
} from "@lodestar/state-transition";
import type { phase0, ValidatorIndex } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import { ControlError } from "../../api/dev-control.ts";
import { weiHint } from "../../api/params/gwei.ts";

const GWEI_PER_ETHER = 1e9;
/** Partial withdrawals of more than this multiple of the balance are rejected. */
const MAX_BALANCES = 100n;

// The functions below throw a `ControlError` if the chain would reject an operation.

/** The validator that an operation concerns, and the state to check the operation against. */
export interface OperationSubject {
  index: ValidatorIndex;
  validator: phase0.Validator;
  state: CachedBeaconStateAllForks;
}

const { conflict } = ControlError;

/** Requires the given fork or a later one. `what` is the start of the error message. */
export function requireFork({ config, slot }: CachedBeaconStateAllForks, fork: ForkName, what: string): void {
  if (config.getForkSeq(slot) >= ForkSeq[fork]) return;
  const { epoch } = config.forks[fork];
  const when = Number.isFinite(epoch) ? `${fork} activates at epoch ${epoch}` : `${fork} is not scheduled`;
  throw conflict(`${what} from ${fork} on. This chain is in ${config.getForkName(slot)}, and ${when}.`);
}

export function requireSlashable({ index, validator, state }: OperationSubject): void {
  const { epoch } = state.epochCtx;
  if (validator.slashed) throw conflict(`Validator ${index} is already slashed.`);
  if (isSlashableValidator(validator, epoch)) return;
  if (validator.activationEpoch > epoch) throw notActiveYet({ index, validator, state }, "be slashed");
  throw conflict(
    `Validator ${index} is no longer slashable: it is withdrawable since epoch ${validator.withdrawableEpoch}.`,
  );
}

/** Checks phase0/beacon-chain.md, process_voluntary_exit; also electra/beacon-chain.md, process_withdrawal_request. */
export function requireExitAllowed(subject: OperationSubject, action: string): void {
  const { index, validator, state } = subject;
  requireNotExiting(subject, action);
  const earliest = validator.activationEpoch + state.config.SHARD_COMMITTEE_PERIOD;
  if (state.epochCtx.epoch >= earliest) return;
  throw conflict(
    `Validator ${index} cannot ${action} before epoch ${earliest}: it is active since epoch ` +
      `${validator.activationEpoch} and must be for ${state.config.SHARD_COMMITTEE_PERIOD} epochs ` +
      "(SHARD_COMMITTEE_PERIOD).",
  );
}

/** Requires an active validator that has no exit epoch. */
export function requireNotExiting(subject: OperationSubject, action: string): void {
  const { index, validator, state } = subject;
  const { epoch } = state.epochCtx;
  if (validator.activationEpoch > epoch) throw notActiveYet(subject, action);
  if (!isActiveValidator(validator, epoch)) {
    throw conflict(`Validator ${index} cannot ${action}: it exited at epoch ${validator.exitEpoch}.`);
  }
  if (validator.exitEpoch === FAR_FUTURE_EPOCH) return;
  throw conflict(`Validator ${index} cannot ${action}: it is exiting at epoch ${validator.exitEpoch}.`);
}

/**
 * Checks electra/beacon-chain.md, process_withdrawal_request: a full exit requires that no partial withdrawals are
 * pending.
 */
export function requireNoPendingWithdrawals({ index, state }: OperationSubject, action: string): void {
  if (state.config.getForkSeq(state.slot) < ForkSeq.electra) return;
  const pending = getPendingBalanceToWithdraw(state as CachedBeaconStateElectra, index);
  if (pending === 0) return;
  throw conflict(
    `Validator ${index} cannot ${action} before its pending partial withdrawals of ${ether(pending)} are processed.`,
  );
}

export function requireExecutionCredentials({ index, validator: { withdrawalCredentials } }: OperationSubject): void {
  if (hasExecutionWithdrawalCredential(withdrawalCredentials)) return;
  throw conflict(
    `The withdrawal credentials of validator ${index}, ${toHex(withdrawalCredentials)}, have no execution address. ` +
      "Set one with dev_changeCredentials.",
  );
}

export function requireCompounding(
  { index, validator: { withdrawalCredentials } }: OperationSubject,
  what: string,
): void {
  if (hasCompoundingWithdrawalCredential(withdrawalCredentials)) return;
  throw conflict(
    `${what} compounding credentials (0x02). Those of validator ${index} are ${toHex(withdrawalCredentials)}. ` +
      "Change them with dev_changeCredentials.",
  );
}

/** Checks electra/beacon-chain.md, process_withdrawal_request: only the balance above 32 ETH can be withdrawn. */
export function requireExcessBalance({ index, validator, state }: OperationSubject): void {
  const electra = state as CachedBeaconStateElectra;
  if (electra.pendingPartialWithdrawals.length >= PENDING_PARTIAL_WITHDRAWALS_LIMIT) {
    throw conflict(`The queue of pending partial withdrawals is full (${PENDING_PARTIAL_WITHDRAWALS_LIMIT}).`);
  }
  if (validator.effectiveBalance < MIN_ACTIVATION_BALANCE) {
    throw conflict(
      `Validator ${index} has no balance to withdraw: its effective balance, ` +
        `${ether(validator.effectiveBalance)}, is below ${ether(MIN_ACTIVATION_BALANCE)}.`,
    );
  }
  const balance = state.balances.get(index);
  const pending = getPendingBalanceToWithdraw(electra, index);
  if (balance > MIN_ACTIVATION_BALANCE + pending) return;
  const after = pending === 0 ? "" : `, of which ${ether(pending)} are pending withdrawals`;
  throw conflict(
    `Validator ${index} has no balance above ${ether(MIN_ACTIVATION_BALANCE)} to withdraw: ` +
      `it has ${ether(balance)}${after}.`,
  );
}

/**
 * Rejects a partial withdrawal of many times the balance, which is probably in the wrong unit. Smaller amounts above
 * the balance are allowed, because the chain reduces them to the balance above 32 ETH.
 */
export function requirePlausibleAmount({ index, state }: OperationSubject, amount: bigint): void {
  const balance = state.balances.get(index);
  if (amount <= BigInt(balance) * MAX_BALANCES) return;
  throw ControlError.invalid(
    `"amount" must be in Gwei, but ${amount} Gwei are ${ether(Number(amount))} and validator ${index} has ` +
      `${ether(balance)}. ${weiHint(amount)}`,
  );
}

/** Checks electra/beacon-chain.md, process_consolidation_request: queue length and churn limit (EIP-8061 since gloas). */
export function requireConsolidationCapacity(state: CachedBeaconStateAllForks): void {
  if ((state as CachedBeaconStateElectra).pendingConsolidations.length >= PENDING_CONSOLIDATIONS_LIMIT) {
    throw conflict(`The queue of pending consolidations is full (${PENDING_CONSOLIDATIONS_LIMIT}).`);
  }
  const fork = state.config.getForkSeq(state.slot);
  const churn = getConsolidationChurnLimit(fork, state.epochCtx);
  if (churn > MIN_ACTIVATION_BALANCE) return;
  const causes =
    fork >= ForkSeq.gloas
      ? "the active balance divided by CONSOLIDATION_CHURN_LIMIT_QUOTIENT"
      : "MIN_PER_EPOCH_CHURN_LIMIT_ELECTRA, MAX_PER_EPOCH_ACTIVATION_EXIT_CHURN_LIMIT";
  throw conflict(
    `No consolidation is possible: the consolidation churn limit is ${ether(churn)} and must exceed ` +
      `${ether(MIN_ACTIVATION_BALANCE)} ` +
      `(${causes}).`,
  );
}

/** Checks capella/beacon-chain.md, process_bls_to_execution_change. */
export function requireBlsCredentials({ index, validator: { withdrawalCredentials } }: OperationSubject): void {
  if (withdrawalCredentials[0] === BLS_WITHDRAWAL_PREFIX) return;
  throw conflict(
    `Validator ${index} has execution credentials already (${toHex(withdrawalCredentials)}). Their address cannot ` +
      `change${hasEth1WithdrawalCredential(withdrawalCredentials) ? ', only the type, to "0x02"' : ""}.`,
  );
}

function notActiveYet({ index, validator: { activationEpoch } }: OperationSubject, action: string): ControlError {
  const when = activationEpoch === FAR_FUTURE_EPOCH ? "" : ` before epoch ${activationEpoch}`;
  return conflict(`Validator ${index} cannot ${action}: it is not active${when}.`);
}

function ether(gwei: number): string {
  return `${gwei / GWEI_PER_ETHER} ETH`;
}
