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
  ControlRefusal,
  type CredentialsType,
  type DepositOrder,
  type MadeOperation,
  type OperationControl,
} from "../../api/dev-control.ts";
import { indexInRegistry } from "../../api/methods/registry.ts";
import type { ValidatorId } from "../../api/params/identifiers.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import { blsWithdrawalCredentials } from "../genesis-deposits.ts";
import type { RegisteredKeys } from "../registered-keys.ts";
import type { DevDeposits } from "./deposits.ts";
import type { ExecutionRequestQueue } from "./execution-requests.ts";
import {
  requireBlsCredentials,
  requireCompounding,
  requireExcessBalance,
  requireExecutionCredentials,
  requireFork,
  requireMayLeave,
  requireNothingPending,
  requireRoomForConsolidation,
  requireSlashable,
  requireStaying,
  type Subject,
} from "./operation-rules.ts";
import { SignedOperations } from "./signed-operations.ts";
import type { DevTime } from "./time.ts";

interface DevOperationsParts {
  api: Pick<Api, "beacon">;
  chain: BeaconChain;
  db: BeaconDb;
  time: DevTime;
  keys: RegisteredKeys;
  /** Undefined where an execution client makes the payloads. */
  requests: ExecutionRequestQueue | undefined;
  /** Undefined where deposits are made at a contract of another chain. */
  deposits: DevDeposits | undefined;
}

type Made = Omit<MadeOperation, "status">;

/** What waits for a block already is not made again: it is what the call answers. */
export class DevOperations implements OperationControl {
  readonly #parts: DevOperationsParts;
  readonly #signed: SignedOperations;

  constructor(parts: DevOperationsParts) {
    this.#parts = parts;
    this.#signed = new SignedOperations(parts.chain.config, parts.keys);
  }

  slash(validators: readonly ValidatorId[], kind: "proposer" | "attester"): Promise<MadeOperation[]> {
    return this.#make(async (state) => {
      const subjects = validators.map((validator) => this.#own(state, validator));
      for (const subject of subjects) requireSlashable(subject);
      const indices = [...new Set(subjects.map(({ index }) => index))].sort((a, b) => a - b);
      const made = await (kind === "proposer"
        ? this.#proposerSlashings(state, indices)
        : this.#attesterSlashings(state, indices));
      return this.#pooled(made);
    });
  }

  exit(validator: ValidatorId): Promise<MadeOperation> {
    return this.#make(async (state) => {
      const { api, chain } = this.#parts;
      const subject = this.#own(state, validator);
      const { index } = subject;
      requireMayLeave(subject, "exit");
      requireNothingPending(subject, "exit");
      const held = chain.pools.operations.listVoluntaryExits().find(({ message }) => message.validatorIndex === index);
      const signedVoluntaryExit = held ?? this.#signed.exit(state, index);
      await api.beacon.submitPoolVoluntaryExit({ signedVoluntaryExit });
      const data = ssz.phase0.SignedVoluntaryExit.toJson(signedVoluntaryExit);
      return this.#onePooled({ type: "voluntary_exit", data });
    });
  }

  withdraw(validator: ValidatorId, amount: bigint): Promise<MadeOperation> {
    return this.#make(async (state) => {
      const isExit = amount === 0n;
      requireFork(state, ForkName.electra, "Withdrawals can be asked for by execution requests");
      const requests = this.#requests("a withdrawal is asked for at the contract of EIP-7002");
      const subject = this.#known(state, validator);
      requireExecutionCredentials(subject);
      requireMayLeave(subject, isExit ? "exit" : "withdraw a part");
      if (isExit) requireNothingPending(subject, "exit");
      else {
        requireCompounding(subject, "A part can be withdrawn with");
        requireExcessBalance(subject);
      }
      const { pubkey, withdrawalCredentials } = subject.validator;
      const request = { sourceAddress: withdrawalCredentials.subarray(12), validatorPubkey: pubkey, amount };
      await requests.addWithdrawal(request);
      return queued("withdrawal_request", ssz.electra.WithdrawalRequest.toJson(request));
    });
  }

  changeCredentials(validator: ValidatorId, to: CredentialsType, address?: Uint8Array): Promise<MadeOperation> {
    return this.#make(async (state) => {
      requireFork(state, ForkName.capella, "Withdrawal credentials can be changed");
      if (to === "0x02") return this.#startCompounding(state, validator, address);
      const { api, chain } = this.#parts;
      const subject = this.#own(state, validator);
      const { index } = subject;
      requireBlsCredentials(subject);
      if (address === undefined)
        throw ControlRefusal.wrong(`The address is missing that validator ${index} is to have.`);
      const fromBlsPubkey = subject.validator.pubkey;
      if (!byteArrayEquals(subject.validator.withdrawalCredentials, blsWithdrawalCredentials(fromBlsPubkey))) {
        throw ControlRefusal.impossible(
          `The withdrawal credentials of validator ${index} name another BLS key than its own, which this chain does not have.`,
        );
      }
      const { operations } = chain.pools;
      const held = operations.listBlsToExecutionChanges().find(({ message }) => message.validatorIndex === index);
      if (held && !byteArrayEquals(held.message.toExecutionAddress, address)) {
        throw ControlRefusal.against(
          `A change of the credentials of validator ${index} to the address ${toHex(held.message.toExecutionAddress)} waits for a block already.`,
        );
      }
      const change = held ?? this.#signed.credentialsChange(index, fromBlsPubkey, address);
      await api.beacon.submitPoolBLSToExecutionChange({ blsToExecutionChanges: [change] });
      const data = ssz.capella.SignedBLSToExecutionChange.toJson(change);
      return this.#onePooled({ type: "bls_to_execution_change", data });
    });
  }

  consolidate(source: ValidatorId, target: ValidatorId): Promise<MadeOperation> {
    return this.#make(async (state) => {
      requireFork(state, ForkName.electra, "Validators can be consolidated");
      const requests = this.#requests("a consolidation is asked for at the contract of EIP-7251");
      const [from, into] = [this.#known(state, source), this.#known(state, target)];
      if (from.index === into.index) {
        throw ControlRefusal.wrong(
          `Validator ${from.index} cannot be consolidated into itself: dev_changeCredentials makes it compound.`,
        );
      }
      requireRoomForConsolidation(state);
      requireExecutionCredentials(from);
      requireCompounding(into, "The target of a consolidation needs");
      requireMayLeave(from, "be consolidated into another");
      requireStaying(into, "be the target of a consolidation");
      requireNothingPending(from, "be consolidated into another");
      return addConsolidation(requests, from.validator, into.validator);
    });
  }

  deposit({ receiver, amount, withdrawalCredentials, isBadlySigned }: DepositOrder): Promise<MadeOperation[]> {
    return this.#make(async (state) => {
      const { deposits } = this.#parts;
      if (!deposits) {
        throw ControlRefusal.impossible(
          "The deposits of this chain are made at a deposit contract, which an execution client has (--el, --eth1): send it a transaction.",
        );
      }
      const wanted = { amount: Number(amount), withdrawalCredentials };
      if ("newValidators" in receiver) {
        const entering = await deposits.forNew(state, receiver.newValidators, wanted, isBadlySigned);
        return deposits.make(state, entering);
      }
      const { index, validator } = this.#known(state, receiver.validator);
      const { pubkey } = validator;
      const credentials = withdrawalCredentials ?? validator.withdrawalCredentials;
      const message = { ...wanted, pubkey, withdrawalCredentials: credentials };
      return deposits.make(state, [deposits.topUp(index, message, isBadlySigned)]);
    });
  }

  /** Does its work by a state of the current slot, while nobody else changes anything by control. */
  #make<T>(work: (state: CachedBeaconStateAllForks) => Promise<T>): Promise<T> {
    const { chain, time } = this.#parts;
    return time.inTurn(async () => {
      const { root, slot } = chain.head;
      return work(await chain.states.afterBlock(root, Math.max(slot, chain.clock.currentSlot)));
    });
  }

  async #startCompounding(
    state: CachedBeaconStateAllForks,
    validator: ValidatorId,
    address: Uint8Array | undefined,
  ): Promise<MadeOperation> {
    requireFork(state, ForkName.electra, "Validators can compound");
    const requests = this.#requests("a change to compounding credentials is asked for at the contract of EIP-7251");
    const subject = this.#known(state, validator);
    requireExecutionCredentials(subject);
    const { withdrawalCredentials } = subject.validator;
    if (!hasEth1WithdrawalCredential(withdrawalCredentials)) {
      throw ControlRefusal.against(`Validator ${subject.index} has compounding credentials already.`);
    }
    if (address && !byteArrayEquals(address, withdrawalCredentials.subarray(12))) {
      throw ControlRefusal.against(
        `The address of validator ${subject.index} stays ${toHex(withdrawalCredentials.subarray(12))} when it begins to compound.`,
      );
    }
    requireStaying(subject, "begin to compound");
    return addConsolidation(requests, subject.validator, subject.validator);
  }

  /** A validator whose key the chain has. */
  #own(state: CachedBeaconStateAllForks, id: ValidatorId): Subject {
    const subject = this.#known(state, id);
    if (this.#parts.keys.secretKey(subject.index)) return subject;
    throw ControlRefusal.impossible(
      `This chain does not have the key of validator ${subject.index}, so it cannot sign for it.`,
    );
  }

  #known(state: CachedBeaconStateAllForks, id: ValidatorId): Subject {
    const index = indexInRegistry(state, id);
    if (index !== undefined) return { index, validator: state.validators.getReadonly(index), state };
    throw ControlRefusal.absent(`There is no validator ${id}: the chain has ${state.validators.length}.`);
  }

  #requests(instead: string): ExecutionRequestQueue {
    if (this.#parts.requests) return this.#parts.requests;
    throw ControlRefusal.impossible(
      `An execution client (--el) makes the payloads of this chain, and execution requests come from its transactions: ${instead}.`,
    );
  }

  /** A slashing of each validator. */
  async #proposerSlashings(state: CachedBeaconStateAllForks, indices: readonly ValidatorIndex[]): Promise<Made[]> {
    const { api, chain } = this.#parts;
    const held = chain.pools.operations.listProposerSlashings();
    const slashings = indices.map(
      (index) =>
        held.find(({ signedHeader1 }) => signedHeader1.message.proposerIndex === index) ??
        this.#signed.doubleProposal(state, index),
    );
    for (const proposerSlashing of slashings) await api.beacon.submitPoolProposerSlashings({ proposerSlashing });
    return slashings.map((each) => ({ type: "proposer_slashing", data: ssz.phase0.ProposerSlashing.toJson(each) }));
  }

  /** One slashing of all validators, or those that wait already for each of them. */
  async #attesterSlashings(state: CachedBeaconStateAllForks, indices: ValidatorIndex[]): Promise<Made[]> {
    const { api, chain } = this.#parts;
    const { operations } = chain.pools;
    const isNeedless = operations.hasAttesterSlashingFor(indices);
    const slashings = isNeedless
      ? operations.listAttesterSlashings().filter((each) => accuses(each, indices))
      : [this.#signed.doubleVote(state, indices)];
    if (!isNeedless) await api.beacon.submitPoolAttesterSlashingsV2({ attesterSlashing: slashings[0]! });
    const type = sszTypesFor(state.config.getForkName(state.slot)).AttesterSlashing as Type<AttesterSlashing>;
    return slashings.map((each) => ({ type: "attester_slashing", data: type.toJson(each) }));
  }

  async #onePooled(made: Made): Promise<MadeOperation> {
    const [pooled] = await this.#pooled([made]);
    return pooled!;
  }

  /** The pools are in memory, and otherwise stored at the end. */
  async #pooled(made: readonly Made[]): Promise<MadeOperation[]> {
    const { chain, db } = this.#parts;
    await chain.pools.saveOperations(db);
    return made.map(({ type, data }) => ({ type, status: "pooled", data }));
  }
}

/** From a validator into another, or into itself, which makes it compound (EIP-7251). */
async function addConsolidation(
  requests: ExecutionRequestQueue,
  source: phase0.Validator,
  target: phase0.Validator,
): Promise<MadeOperation> {
  const request = {
    sourceAddress: source.withdrawalCredentials.subarray(12),
    sourcePubkey: source.pubkey,
    targetPubkey: target.pubkey,
  };
  await requests.addConsolidation(request);
  return queued("consolidation_request", ssz.electra.ConsolidationRequest.toJson(request));
}

function queued(type: string, data: unknown): MadeOperation {
  return { type, status: "queued", data };
}

function accuses(slashing: AttesterSlashing, indices: readonly ValidatorIndex[]): boolean {
  return getAttesterSlashableIndices(slashing).some((index) => indices.includes(index));
}
