import {
  FAR_FUTURE_EPOCH,
  ForkName,
  MIN_ACTIVATION_BALANCE,
  PENDING_CONSOLIDATIONS_LIMIT,
  PENDING_PARTIAL_WITHDRAWALS_LIMIT,
} from "@lodestar/params";
import type { CachedBeaconStateElectra } from "@lodestar/state-transition";
import { type phase0, ssz } from "@lodestar/types";
import { expect, it } from "vitest";
import { ControlError } from "../../api/dev-control.ts";
import { devChainConfig } from "../chain-config.ts";
import { createDevGenesis } from "../genesis.ts";
import {
  type OperationSubject,
  requireBlsCredentials,
  requireCompounding,
  requireConsolidationCapacity,
  requireExcessBalance,
  requireExecutionCredentials,
  requireExitAllowed,
  requireFork,
  requireNoPendingWithdrawals,
  requireNotExiting,
  requirePlausibleAmount,
  requireSlashable,
} from "./operation-rules.ts";

const EPOCH = 10;
const ETHER = 1e9;

const chainConfig = devChainConfig({ forks: [{ fork: "electra", epoch: 0 }], slotSeconds: 2, genesisTime: 0 });
const genesis = createDevGenesis({ chainConfig, validatorCount: 4, genesisTime: 0 });

type StateChange = (state: CachedBeaconStateElectra) => void;

/** Returns validator 3 at epoch 10, active since genesis. */
function subject(change: Partial<phase0.Validator> = {}, changeState: StateChange = () => {}): OperationSubject {
  const state = genesis.state.clone() as CachedBeaconStateElectra;
  state.epochCtx = Object.assign(state.epochCtx.clone(), { epoch: EPOCH });
  changeState(state);
  return { index: 3, validator: { ...state.validators.get(3).toValue(), ...change }, state };
}

/** Returns the message of the conflict, or undefined if the operation is allowed. */
function refusalOf(check: () => void): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (!(error instanceof ControlError)) throw error;
    return error.message;
  }
}

const credentials = (prefix: number) => new Uint8Array(32).fill(0xcc, 12).fill(prefix, 0, 1);
const hexOf = (prefix: string) => `${prefix}${"00".repeat(11)}${"cc".repeat(20)}`;

const withdrawing = (gwei: number) => (state: CachedBeaconStateElectra) =>
  state.pendingPartialWithdrawals.push(
    ssz.electra.PendingPartialWithdrawal.toViewDU({ validatorIndex: 3, amount: BigInt(gwei), withdrawableEpoch: 99 }),
  );

it.each<[string, Partial<phase0.Validator>, string | undefined]>([
  ["an active validator", {}, undefined],
  ["one that is withdrawable from the next epoch on", { withdrawableEpoch: EPOCH + 1 }, undefined],
  ["a slashed one", { slashed: true }, "Validator 3 is already slashed."],
  [
    "a withdrawable one",
    { withdrawableEpoch: EPOCH },
    "Validator 3 is no longer slashable: it is withdrawable since epoch 10.",
  ],
  [
    "one that activates later",
    { activationEpoch: EPOCH + 1 },
    "Validator 3 cannot be slashed: it is not active before epoch 11.",
  ],
  [
    "one without an activation epoch",
    { activationEpoch: FAR_FUTURE_EPOCH },
    "Validator 3 cannot be slashed: it is not active.",
  ],
])("slashing of %s", (_, change, refusal) => {
  expect(refusalOf(() => requireSlashable(subject(change)))).toBe(refusal);
});

it.each<[string, Partial<phase0.Validator>, string | undefined]>([
  ["one that was active long enough", { activationEpoch: EPOCH - 4 }, undefined],
  [
    "one that is not active for long enough",
    { activationEpoch: EPOCH - 3 },
    "Validator 3 cannot exit before epoch 11: it is active since epoch 7 and must be for 4 epochs " +
      "(SHARD_COMMITTEE_PERIOD).",
  ],
  [
    "one that activates later",
    { activationEpoch: EPOCH + 1 },
    "Validator 3 cannot exit: it is not active before epoch 11.",
  ],
  ["one that is exiting", { exitEpoch: EPOCH + 1 }, "Validator 3 cannot exit: it is exiting at epoch 11."],
  ["one that has exited", { exitEpoch: EPOCH }, "Validator 3 cannot exit: it exited at epoch 10."],
])("exit of %s", (_, change, refusal) => {
  expect(refusalOf(() => requireExitAllowed(subject(change), "exit"))).toBe(refusal);
});

it("the target of a consolidation need not be active for long", () => {
  expect(refusalOf(() => requireNotExiting(subject({ activationEpoch: EPOCH }), "be the target"))).toBeUndefined();
});

it("pending partial withdrawals prevent an exit", () => {
  expect(refusalOf(() => requireNoPendingWithdrawals(subject(), "exit"))).toBeUndefined();
  expect(refusalOf(() => requireNoPendingWithdrawals(subject({}, withdrawing(1.5 * ETHER)), "exit"))).toBe(
    "Validator 3 cannot exit before its pending partial withdrawals of 1.5 ETH are processed.",
  );
});

it.each([
  [0, true, false, false],
  [1, false, true, false],
  [2, false, true, true],
])("credentials 0x0%i", (prefix, isBls, isExecution, isCompounding) => {
  const of = subject({ withdrawalCredentials: credentials(prefix) });
  expect(refusalOf(() => requireBlsCredentials(of)) === undefined).toBe(isBls);
  expect(refusalOf(() => requireExecutionCredentials(of)) === undefined).toBe(isExecution);
  expect(refusalOf(() => requireCompounding(of, "It requires")) === undefined).toBe(isCompounding);
});

it("errors show the credentials and how to change them", () => {
  const withPrefix = (prefix: number) => subject({ withdrawalCredentials: credentials(prefix) });
  expect(refusalOf(() => requireExecutionCredentials(withPrefix(0)))).toBe(
    `The withdrawal credentials of validator 3, ${hexOf("0x00")}, have no execution address. ` +
      "Set one with dev_changeCredentials.",
  );
  expect(refusalOf(() => requireCompounding(withPrefix(1), "Partial withdrawals require"))).toBe(
    "Partial withdrawals require compounding credentials (0x02). " +
      `Those of validator 3 are ${hexOf("0x01")}. Change them with dev_changeCredentials.`,
  );
  const isSet = "Validator 3 has execution credentials already";
  expect(refusalOf(() => requireBlsCredentials(withPrefix(1)))).toBe(
    `${isSet} (${hexOf("0x01")}). Their address cannot change, only the type, to "0x02".`,
  );
  expect(refusalOf(() => requireBlsCredentials(withPrefix(2)))).toBe(
    `${isSet} (${hexOf("0x02")}). Their address cannot change.`,
  );
});

it.each<[string, Partial<phase0.Validator>, StateChange, string | undefined]>([
  ["above 32 ETH", {}, (state) => state.balances.set(3, MIN_ACTIVATION_BALANCE + 1), undefined],
  ["of 32 ETH", {}, () => {}, "Validator 3 has no balance above 32 ETH to withdraw: it has 32 ETH."],
  [
    "that is pending already",
    {},
    (state) => {
      state.balances.set(3, MIN_ACTIVATION_BALANCE + 2 * ETHER);
      withdrawing(2 * ETHER)(state);
    },
    "Validator 3 has no balance above 32 ETH to withdraw: it has 34 ETH, of which 2 ETH are pending withdrawals.",
  ],
  [
    "with an effective balance below 32 ETH",
    { effectiveBalance: 31 * ETHER },
    (state) => state.balances.set(3, 40 * ETHER),
    "Validator 3 has no balance to withdraw: its effective balance, 31 ETH, is below 32 ETH.",
  ],
])("partial withdrawal of a balance %s", (_, change, changeState, refusal) => {
  expect(refusalOf(() => requireExcessBalance(subject(change, changeState)))).toBe(refusal);
});

it("a partial withdrawal of many times the balance is in the wrong unit", () => {
  const of = subject({}, (state) => state.balances.set(3, 64 * ETHER));
  const refusal = (amount: bigint) => refusalOf(() => requirePlausibleAmount(of, amount));
  // The chain reduces the amount to the balance above 32 ETH.
  expect(refusal(6400n * BigInt(ETHER))).toBeUndefined();
  expect(refusal(10n ** 18n)).toBe(
    '"amount" must be in Gwei, but 1000000000000000000 Gwei are 1000000000 ETH and validator 3 has 64 ETH. ' +
      "If that is wei, it is 1000000000 Gwei.",
  );
});

/** A queue with `length` entries. */
const queueOf = (length: number) => ({ length }) as never;

it("the queues of the state are limited", () => {
  const pending = (length: number): OperationSubject => {
    const base = subject({}, (state) => state.balances.set(3, 40 * ETHER));
    const { state } = base;
    const pendingPartialWithdrawals = { length, getAllReadonly: () => [] };
    return {
      ...base,
      state: Object.create(state, { pendingPartialWithdrawals: { value: pendingPartialWithdrawals } }),
    };
  };
  expect(refusalOf(() => requireExcessBalance(pending(PENDING_PARTIAL_WITHDRAWALS_LIMIT - 1)))).toBeUndefined();
  expect(refusalOf(() => requireExcessBalance(pending(PENDING_PARTIAL_WITHDRAWALS_LIMIT)))).toBe(
    `The queue of pending partial withdrawals is full (${PENDING_PARTIAL_WITHDRAWALS_LIMIT}).`,
  );
  const consolidating = (length: number) =>
    Object.create(subject().state, { pendingConsolidations: { value: queueOf(length) } });
  expect(
    refusalOf(() => requireConsolidationCapacity(consolidating(PENDING_CONSOLIDATIONS_LIMIT - 1))),
  ).toBeUndefined();
  expect(refusalOf(() => requireConsolidationCapacity(consolidating(PENDING_CONSOLIDATIONS_LIMIT)))).toBe(
    `The queue of pending consolidations is full (${PENDING_CONSOLIDATIONS_LIMIT}).`,
  );
});

it("a consolidation requires churn of more than 32 ETH", () => {
  const churned = (gwei: number) => {
    const { state } = subject();
    const config = { ...state.config, MIN_PER_EPOCH_CHURN_LIMIT_ELECTRA: 64 * ETHER + gwei };
    const epochCtx = Object.assign(state.epochCtx.clone(), { config });
    return Object.create(state, { epochCtx: { value: epochCtx } });
  };
  expect(refusalOf(() => requireConsolidationCapacity(churned(33 * ETHER)))).toBeUndefined();
  expect(refusalOf(() => requireConsolidationCapacity(churned(32 * ETHER)))).toBe(
    "No consolidation is possible: the consolidation churn limit is 32 ETH and must exceed 32 ETH " +
      "(MIN_PER_EPOCH_CHURN_LIMIT_ELECTRA, MAX_PER_EPOCH_ACTIVATION_EXIT_CHURN_LIMIT).",
  );
});

it("a consolidation is possible with eight validators since gloas", () => {
  const forks = [{ fork: "gloas", epoch: 0 }] as const;
  const config = devChainConfig({ forks, slotSeconds: 2, genesisTime: 0 });
  const { state } = createDevGenesis({ chainConfig: config, validatorCount: 8, genesisTime: 0 });
  expect(refusalOf(() => requireConsolidationCapacity(state))).toBeUndefined();
  const slower = { ...config, CONSOLIDATION_CHURN_LIMIT_QUOTIENT: 16 };
  const { state: other } = createDevGenesis({ chainConfig: slower, validatorCount: 8, genesisTime: 0 });
  expect(refusalOf(() => requireConsolidationCapacity(other))).toBe(
    "No consolidation is possible: the consolidation churn limit is 16 ETH and must exceed 32 ETH " +
      "(the active balance divided by CONSOLIDATION_CHURN_LIMIT_QUOTIENT).",
  );
});

it("names the fork that an operation needs, and when it activates", () => {
  const forks = [
    { fork: "deneb", epoch: 0 },
    { fork: "electra", epoch: 2 },
  ] as const;
  const config = devChainConfig({ forks, slotSeconds: 2, genesisTime: 0 });
  const { state } = createDevGenesis({ chainConfig: config, validatorCount: 1, genesisTime: 0 });
  const needs = (fork: ForkName) => refusalOf(() => requireFork(state, fork, "Withdrawal requests are supported"));
  expect(needs(ForkName.capella)).toBeUndefined();
  expect(needs(ForkName.deneb)).toBeUndefined();
  expect(needs(ForkName.electra)).toBe(
    "Withdrawal requests are supported from electra on. This chain is in deneb, and electra activates at epoch 2.",
  );
  expect(needs(ForkName.fulu)).toBe(
    "Withdrawal requests are supported from fulu on. This chain is in deneb, and fulu is not scheduled.",
  );
});
