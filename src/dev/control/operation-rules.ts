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
import { ControlRefusal } from "../../api/dev-control.ts";

const GWEI_PER_ETHER = 1e9;

/** A validator of the state in which an operation is to be made. */
export interface Subject {
  index: ValidatorIndex;
  validator: phase0.Validator;
  state: CachedBeaconStateAllForks;
}

const { against } = ControlRefusal;

/** Whether the chain is in that fork or in a later one; `what` is the subject of the sentence that says otherwise. */
export function requireFork({ config, slot }: CachedBeaconStateAllForks, fork: ForkName, what: string): void {
  if (config.getForkSeq(slot) >= ForkSeq[fork]) return;
  const { epoch } = config.forks[fork];
  const when = Number.isFinite(epoch) ? `${fork} begins at epoch ${epoch}` : `never comes to ${fork}`;
  throw against(`${what} from ${fork} on: this chain is in ${config.getForkName(slot)}, and ${when}.`);
}

export function requireSlashable({ index, validator, state }: Subject): void {
  const { epoch } = state.epochCtx;
  if (validator.slashed) throw against(`Validator ${index} is already slashed.`);
  if (isSlashableValidator(validator, epoch)) return;
  if (validator.activationEpoch > epoch) throw notActiveYet({ index, validator, state }, "be slashed");
  throw against(
    `Validator ${index} cannot be slashed any more: its balance can be withdrawn since epoch ${validator.withdrawableEpoch}.`,
  );
}

/** phase0/beacon-chain.md, process_voluntary_exit; since electra the same holds for requests (process_withdrawal_request). */
export function requireMayLeave(subject: Subject, deed: string): void {
  const { index, validator, state } = subject;
  requireStaying(subject, deed);
  const earliest = validator.activationEpoch + state.config.SHARD_COMMITTEE_PERIOD;
  if (state.epochCtx.epoch >= earliest) return;
  throw against(
    `Validator ${index} cannot ${deed} before epoch ${earliest}: it has to be active for ${state.config.SHARD_COMMITTEE_PERIOD} epochs ` +
      `(SHARD_COMMITTEE_PERIOD), and has been since epoch ${validator.activationEpoch}.`,
  );
}

/** Active, and not about to leave. */
export function requireStaying(subject: Subject, deed: string): void {
  const { index, validator, state } = subject;
  const { epoch } = state.epochCtx;
  if (validator.activationEpoch > epoch) throw notActiveYet(subject, deed);
  if (!isActiveValidator(validator, epoch)) {
    throw against(`Validator ${index} cannot ${deed}: it has exited, at epoch ${validator.exitEpoch}.`);
  }
  if (validator.exitEpoch === FAR_FUTURE_EPOCH) return;
  throw against(`Validator ${index} cannot ${deed}: it exits already, at epoch ${validator.exitEpoch}.`);
}

/** electra/beacon-chain.md, process_withdrawal_request: only a validator without partial withdrawals ahead leaves. */
export function requireNothingPending({ index, state }: Subject, deed: string): void {
  if (state.config.getForkSeq(state.slot) < ForkSeq.electra) return;
  const pending = getPendingBalanceToWithdraw(state as CachedBeaconStateElectra, index);
  if (pending === 0) return;
  throw against(
    `Validator ${index} cannot ${deed} before its pending partial withdrawals are paid out: they come to ${ether(pending)}.`,
  );
}

export function requireExecutionCredentials({ index, validator: { withdrawalCredentials } }: Subject): void {
  if (hasExecutionWithdrawalCredential(withdrawalCredentials)) return;
  throw against(
    `The withdrawal credentials of validator ${index}, ${toHex(withdrawalCredentials)}, name no address that could ask for ` +
      "it: dev_changeCredentials gives it one.",
  );
}

export function requireCompounding({ index, validator: { withdrawalCredentials } }: Subject, what: string): void {
  if (hasCompoundingWithdrawalCredential(withdrawalCredentials)) return;
  throw against(
    `${what} compounding credentials (0x02), and those of validator ${index} are ${toHex(withdrawalCredentials)}: ` +
      "dev_changeCredentials changes them.",
  );
}

/** electra/beacon-chain.md, process_withdrawal_request: what is above 32 ETH can be withdrawn. */
export function requireExcessBalance({ index, validator, state }: Subject): void {
  const electra = state as CachedBeaconStateElectra;
  if (electra.pendingPartialWithdrawals.length >= PENDING_PARTIAL_WITHDRAWALS_LIMIT) {
    throw against(
      `No more than ${PENDING_PARTIAL_WITHDRAWALS_LIMIT} partial withdrawals can be pending, and so many are.`,
    );
  }
  if (validator.effectiveBalance < MIN_ACTIVATION_BALANCE) {
    throw against(
      `Validator ${index} can withdraw nothing: its effective balance is ${ether(validator.effectiveBalance)}, less than ` +
        `${ether(MIN_ACTIVATION_BALANCE)}.`,
    );
  }
  const balance = state.balances.get(index);
  const pending = getPendingBalanceToWithdraw(electra, index);
  if (balance > MIN_ACTIVATION_BALANCE + pending) return;
  const after = pending === 0 ? "" : `, of which ${ether(pending)} are to be withdrawn already`;
  throw against(
    `Validator ${index} can withdraw nothing: what is above ${ether(MIN_ACTIVATION_BALANCE)} can be withdrawn, and its balance is ` +
      `${ether(balance)}${after}.`,
  );
}

export function requireRoomForConsolidation(state: CachedBeaconStateAllForks): void {
  if ((state as CachedBeaconStateElectra).pendingConsolidations.length >= PENDING_CONSOLIDATIONS_LIMIT) {
    throw against(`No more than ${PENDING_CONSOLIDATIONS_LIMIT} consolidations can be pending, and so many are.`);
  }
  const churn = getConsolidationChurnLimit(state.config.getForkSeq(state.slot), state.epochCtx);
  if (churn > MIN_ACTIVATION_BALANCE) return;
  throw against(
    `No consolidation is possible: the churn of an epoch leaves ${ether(churn)} for them, and it has to be more than ` +
      `${ether(MIN_ACTIVATION_BALANCE)} (MIN_PER_EPOCH_CHURN_LIMIT_ELECTRA, MAX_PER_EPOCH_ACTIVATION_EXIT_CHURN_LIMIT).`,
  );
}

/** capella/beacon-chain.md, process_bls_to_execution_change. */
export function requireBlsCredentials({ index, validator: { withdrawalCredentials } }: Subject): void {
  if (withdrawalCredentials[0] === BLS_WITHDRAWAL_PREFIX) return;
  throw against(
    `The credentials of validator ${index}, ${toHex(withdrawalCredentials)}, are execution credentials already, and their address never ` +
      `changes${hasEth1WithdrawalCredential(withdrawalCredentials) ? '; only the type can, to "0x02"' : ""}.`,
  );
}

function notActiveYet({ index, validator: { activationEpoch } }: Subject, deed: string): ControlRefusal {
  const when = activationEpoch === FAR_FUTURE_EPOCH ? "" : `, and will be from epoch ${activationEpoch} on`;
  return against(`Validator ${index} cannot ${deed}: it is not active yet${when}.`);
}

function ether(gwei: number): string {
  return `${gwei / GWEI_PER_ETHER} ETH`;
}
