import type { Type } from "@chainsafe/ssz";
import { ForkName } from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  getAttesterSlashableIndices,
  hasEth1WithdrawalCredential,
} from "@lodestar/state-transition";
import { type AttesterSlashing, type phase0, ssz, sszTypesFor, type ValidatorIndex } from "@lodestar/types";
import { byteArrayEquals, toHex } from "@lodestar/utils";
import type { Api } from "../../api/api.ts";
import {
  ControlError,
  type CredentialsType,
  type DepositOptions,
  type OperationControl,
  type SubmittedDeposit,
  type SubmittedOperation,
} from "../../api/dev-control.ts";
import { indexInRegistry } from "../../api/methods/states/registry.ts";
import type { ValidatorId } from "../../api/params/identifiers.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import { blsWithdrawalCredentials } from "../genesis-deposits.ts";
import type { RegisteredKeys } from "../registered-keys.ts";
import { type DevDeposits, depositData } from "./deposits.ts";
import type { ExecutionRequestSink } from "./execution-requests.ts";
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
import { OperationSigner } from "./operation-signer.ts";
import type { DevTime } from "./time.ts";

interface DevOperationsParts {
  api: Pick<Api, "beacon">;
  chain: BeaconChain;
  db: BeaconDb;
  time: DevTime;
  keys: RegisteredKeys;
  /** Undefined if an execution client builds the payloads. */
  requests: ExecutionRequestSink | undefined;
  /** Undefined if deposits are made through a contract on another chain. */
  deposits: DevDeposits | undefined;
}

type CreatedOperation = Omit<SubmittedOperation, "status">;

/**
 * Creates validator operations and submits them to the pools. If an identical operation is already pending, returns
 * that operation.
 */
export class DevOperations implements OperationControl {
  readonly #parts: DevOperationsParts;
  readonly #signed: OperationSigner;

  constructor(parts: DevOperationsParts) {
    this.#parts = parts;
    this.#signed = new OperationSigner(parts.chain.config, parts.keys);
  }

  slash(validators: readonly ValidatorId[], kind: "proposer" | "attester"): Promise<SubmittedOperation[]> {
    return this.#make(async (state) => {
      const subjects = validators.map((validator) => this.#ownValidator(state, validator));
      for (const subject of subjects) requireSlashable(subject);
      const indices = [...new Set(subjects.map(({ index }) => index))].sort((a, b) => a - b);
      const slashings = await (kind === "proposer"
        ? this.#proposerSlashings(state, indices)
        : this.#attesterSlashings(state, indices));
      return this.#persist(slashings);
    });
  }

  exit(validator: ValidatorId): Promise<SubmittedOperation> {
    return this.#make(async (state) => {
      const { api, chain } = this.#parts;
      const subject = this.#ownValidator(state, validator);
      const { index } = subject;
      requireExitAllowed(subject, "exit");
      requireNoPendingWithdrawals(subject, "exit");
      const pendingExit = chain.pools.operations
        .listVoluntaryExits()
        .find(({ message }) => message.validatorIndex === index);
      const signedVoluntaryExit = pendingExit ?? this.#signed.exit(state, index);
      await api.beacon.submitPoolVoluntaryExit({ signedVoluntaryExit });
      const data = ssz.phase0.SignedVoluntaryExit.toJson(signedVoluntaryExit);
      return this.#persistOne({ type: "voluntary_exit", data });
    });
  }

  withdraw(validator: ValidatorId, amount: bigint): Promise<SubmittedOperation> {
    return this.#make(async (state) => {
      const isExit = amount === 0n;
      requireFork(state, ForkName.electra, "Withdrawal requests are supported");
      const requests = this.#requests("call the withdrawal request contract (EIP-7002)");
      const subject = this.#registryValidator(state, validator);
      // Checked first, because a wrong unit is an error in any state of the chain.
      requirePlausibleAmount(subject, amount);
      requireExecutionCredentials(subject);
      requireExitAllowed(subject, isExit ? "exit" : "withdraw partially");
      if (isExit) requireNoPendingWithdrawals(subject, "exit");
      else {
        requireCompounding(subject, "Partial withdrawals require");
        requireExcessBalance(subject);
      }
      const { pubkey, withdrawalCredentials } = subject.validator;
      const request = { sourceAddress: withdrawalCredentials.subarray(12), validatorPubkey: pubkey, amount };
      await requests.addWithdrawal(request);
      return queuedOperation("withdrawal_request", ssz.electra.WithdrawalRequest.toJson(request));
    });
  }

  changeCredentials(validator: ValidatorId, to: CredentialsType, address?: Uint8Array): Promise<SubmittedOperation> {
    return this.#make(async (state) => {
      requireFork(state, ForkName.capella, "Withdrawal credentials can be changed");
      if (to === "0x02") return this.#startCompounding(state, validator, address);
      const { api, chain } = this.#parts;
      const subject = this.#ownValidator(state, validator);
      const { index } = subject;
      requireBlsCredentials(subject);
      if (address === undefined)
        throw ControlError.invalid(
          `Missing address: dev_changeCredentials needs the withdrawal address for validator ${index}.`,
        );
      const fromBlsPubkey = subject.validator.pubkey;
      if (!byteArrayEquals(subject.validator.withdrawalCredentials, blsWithdrawalCredentials(fromBlsPubkey))) {
        throw ControlError.unsupported(
          `The BLS withdrawal key of validator ${index} is unknown, so the change cannot be signed.`,
        );
      }
      const { operations } = chain.pools;
      const pendingChange = operations
        .listBlsToExecutionChanges()
        .find(({ message }) => message.validatorIndex === index);
      if (pendingChange && !byteArrayEquals(pendingChange.message.toExecutionAddress, address)) {
        throw ControlError.conflict(
          `A credentials change of validator ${index} to ${toHex(pendingChange.message.toExecutionAddress)} is pending already.`,
        );
      }
      const change = pendingChange ?? this.#signed.credentialsChange(index, fromBlsPubkey, address);
      await api.beacon.submitPoolBLSToExecutionChange({ blsToExecutionChanges: [change] });
      const data = ssz.capella.SignedBLSToExecutionChange.toJson(change);
      return this.#persistOne({ type: "bls_to_execution_change", data });
    });
  }

  consolidate(source: ValidatorId, target: ValidatorId): Promise<SubmittedOperation> {
    return this.#make(async (state) => {
      requireFork(state, ForkName.electra, "Validators can be consolidated");
      const requests = this.#requests("call the consolidation request contract (EIP-7251)");
      const [from, into] = [this.#registryValidator(state, source), this.#registryValidator(state, target)];
      if (from.index === into.index) {
        throw ControlError.invalid(
          `Validator ${from.index} cannot be consolidated into itself. ` +
            "Use dev_changeCredentials for compounding credentials.",
        );
      }
      requireConsolidationCapacity(state);
      requireExecutionCredentials(from);
      requireCompounding(into, "The target of a consolidation requires");
      requireExitAllowed(from, "be consolidated into another");
      requireNotExiting(into, "be the target of a consolidation");
      requireNoPendingWithdrawals(from, "be consolidated into another");
      return addConsolidation(requests, from.validator, into.validator);
    });
  }

  deposit({
    receiver,
    amount,
    withdrawalCredentials,
    hasInvalidSignature,
    isSubmitted,
  }: DepositOptions): Promise<SubmittedDeposit[]> {
    return this.#make(async (state) => {
      const { deposits } = this.#parts;
      if (!deposits) {
        throw ControlError.unsupported(
          "This chain has a deposit contract on an execution client (--el, --eth1). Send the deposit as a transaction.",
        );
      }
      const contents = { amount: Number(amount), withdrawalCredentials };
      const finish = (signed: readonly phase0.DepositData[]) =>
        isSubmitted
          ? deposits.submit(state, signed)
          : Promise.resolve(signed.map((each) => depositData(each, "signed")));
      if ("newValidators" in receiver) {
        const signedDeposits = await deposits.newValidators(
          state,
          receiver.newValidators,
          contents,
          hasInvalidSignature,
        );
        return finish(signedDeposits);
      }
      const { index, validator } = this.#registryValidator(state, receiver.validator);
      const { pubkey } = validator;
      const credentials = withdrawalCredentials ?? validator.withdrawalCredentials;
      const message = { ...contents, pubkey, withdrawalCredentials: credentials };
      return finish([deposits.topUp(index, message, hasInvalidSignature)]);
    });
  }

  /** Runs work with the head state of the current slot. No other control call runs at the same time. */
  #make<T>(work: (state: CachedBeaconStateAllForks) => Promise<T>): Promise<T> {
    const { chain, time } = this.#parts;
    return time.exclusive(async () => {
      const { root, slot } = chain.head;
      return work(await chain.states.afterBlock(root, Math.max(slot, chain.clock.currentSlot)));
    });
  }

  async #startCompounding(
    state: CachedBeaconStateAllForks,
    validator: ValidatorId,
    address: Uint8Array | undefined,
  ): Promise<SubmittedOperation> {
    requireFork(state, ForkName.electra, "Compounding credentials are supported");
    const requests = this.#requests("call the consolidation request contract (EIP-7251)");
    const subject = this.#registryValidator(state, validator);
    requireExecutionCredentials(subject);
    const { withdrawalCredentials } = subject.validator;
    if (!hasEth1WithdrawalCredential(withdrawalCredentials)) {
      throw ControlError.conflict(`Validator ${subject.index} has compounding credentials already.`);
    }
    if (address && !byteArrayEquals(address, withdrawalCredentials.subarray(12))) {
      throw ControlError.conflict(
        `The address of validator ${subject.index} cannot change from ${toHex(withdrawalCredentials.subarray(12))}. ` +
          "Leave it out to change the type only.",
      );
    }
    requireNotExiting(subject, "switch to compounding");
    return addConsolidation(requests, subject.validator, subject.validator);
  }

  /** Looks up a validator whose key the chain has. */
  #ownValidator(state: CachedBeaconStateAllForks, id: ValidatorId): OperationSubject {
    const subject = this.#registryValidator(state, id);
    if (this.#parts.keys.secretKey(subject.index)) return subject;
    throw ControlError.unsupported(
      `The key of validator ${subject.index} is unknown, so nothing can be signed for it.`,
    );
  }

  #registryValidator(state: CachedBeaconStateAllForks, id: ValidatorId): OperationSubject {
    const index = indexInRegistry(state, id);
    if (index !== undefined) return { index, validator: state.validators.getReadonly(index), state };
    throw ControlError.notFound(`There is no validator ${id}: the chain has ${state.validators.length}.`);
  }

  #requests(instead: string): ExecutionRequestSink {
    if (this.#parts.requests) return this.#parts.requests;
    throw ControlError.unsupported(
      `Execution requests of this chain come from transactions of its execution client (--el). Instead, ${instead}.`,
    );
  }

  /** Returns one slashing per validator. */
  async #proposerSlashings(
    state: CachedBeaconStateAllForks,
    indices: readonly ValidatorIndex[],
  ): Promise<CreatedOperation[]> {
    const { api, chain } = this.#parts;
    const pendingSlashings = chain.pools.operations.listProposerSlashings();
    const slashings = indices.map(
      (index) =>
        pendingSlashings.find(({ signedHeader1 }) => signedHeader1.message.proposerIndex === index) ??
        this.#signed.doubleProposal(state, index),
    );
    for (const proposerSlashing of slashings) await api.beacon.submitPoolProposerSlashings({ proposerSlashing });
    return slashings.map((each) => ({ type: "proposer_slashing", data: ssz.phase0.ProposerSlashing.toJson(each) }));
  }

  /** Returns one slashing that covers all validators, or the pending slashings if they cover all validators. */
  async #attesterSlashings(state: CachedBeaconStateAllForks, indices: ValidatorIndex[]): Promise<CreatedOperation[]> {
    const { api, chain } = this.#parts;
    const { operations } = chain.pools;
    const isPending = operations.hasAttesterSlashingFor(indices);
    const slashings = isPending
      ? operations.listAttesterSlashings().filter((each) => slashesAny(each, indices))
      : [this.#signed.doubleVote(state, indices)];
    if (!isPending) await api.beacon.submitPoolAttesterSlashingsV2({ attesterSlashing: slashings[0]! });
    const type = sszTypesFor(state.config.getForkName(state.slot)).AttesterSlashing as Type<AttesterSlashing>;
    return slashings.map((each) => ({ type: "attester_slashing", data: type.toJson(each) }));
  }

  async #persistOne(operation: CreatedOperation): Promise<SubmittedOperation> {
    const [pooled] = await this.#persist([operation]);
    return pooled!;
  }

  /** Persists the pools, which are otherwise stored only at shutdown. */
  async #persist(operations: readonly CreatedOperation[]): Promise<SubmittedOperation[]> {
    const { chain, db } = this.#parts;
    await chain.pools.saveOperations(db);
    return operations.map(({ type, data }) => ({ type, status: "pooled", data }));
  }
}

/**
 * Queues a consolidation. If source and target are the same, the request switches to compounding credentials
 * (EIP-7251).
 */
async function addConsolidation(
  requests: ExecutionRequestSink,
  source: phase0.Validator,
  target: phase0.Validator,
): Promise<SubmittedOperation> {
  const request = {
    sourceAddress: source.withdrawalCredentials.subarray(12),
    sourcePubkey: source.pubkey,
    targetPubkey: target.pubkey,
  };
  await requests.addConsolidation(request);
  return queuedOperation("consolidation_request", ssz.electra.ConsolidationRequest.toJson(request));
}

function queuedOperation(type: string, data: unknown): SubmittedOperation {
  return { type, status: "queued", data };
}

function slashesAny(slashing: AttesterSlashing, indices: readonly ValidatorIndex[]): boolean {
  return getAttesterSlashableIndices(slashing).some((index) => indices.includes(index));
}
