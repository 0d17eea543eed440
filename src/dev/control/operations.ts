import { aggregateSerializedSignatures, SecretKey } from "@chainsafe/blst";
import type { Type } from "@chainsafe/ssz";
import {
  DOMAIN_BEACON_ATTESTER,
  DOMAIN_BEACON_PROPOSER,
  DOMAIN_BLS_TO_EXECUTION_CHANGE,
  ForkName,
  ForkSeq,
} from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  type CachedBeaconStateElectra,
  computeSigningRoot,
  computeStartSlotAtEpoch,
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
import { signDeposit } from "../signed-deposit.ts";
import { ValidatorSigner } from "../validators/signer.ts";
import type { DepositLog } from "./deposit-log.ts";
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
import type { DevTime } from "./time.ts";

/** A seed of a key that no validator has, for signatures that are wrong. */
const NOBODYS_SEED = new Uint8Array(32).fill(0xba);

interface DevOperationsParts {
  api: Pick<Api, "beacon">;
  chain: BeaconChain;
  db: BeaconDb;
  time: DevTime;
  keys: RegisteredKeys;
  /** Undefined where an execution client makes the payloads. */
  requests: ExecutionRequestQueue | undefined;
  /** Undefined where deposits are made at a contract of another chain. */
  depositLog: DepositLog | undefined;
}

type Made = Omit<MadeOperation, "status">;

/** What waits for a block already is not made again: it is what the call answers. */
export class DevOperations implements OperationControl {
  readonly #parts: DevOperationsParts;
  readonly #signer: ValidatorSigner;

  constructor(parts: DevOperationsParts) {
    this.#parts = parts;
    this.#signer = new ValidatorSigner(parts.chain.config, parts.keys);
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
      const signedVoluntaryExit = held ?? this.#signedExit(state, index);
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
      const message = { validatorIndex: index, fromBlsPubkey, toExecutionAddress: address };
      const domain = state.config.getDomainAtFork(ForkName.phase0, DOMAIN_BLS_TO_EXECUTION_CHANGE);
      const signingRoot = computeSigningRoot(ssz.capella.BLSToExecutionChange, message, domain);
      const change = held ?? { message, signature: this.#signer.sign(index, signingRoot) };
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

  deposit(order: DepositOrder): Promise<MadeOperation[]> {
    return this.#make(async (state) => {
      const { requests, depositLog, chain } = this.#parts;
      if (!depositLog) {
        throw ControlRefusal.impossible(
          "The deposits of this chain are made at a deposit contract, which an execution client has (--el, --eth1): send it a transaction.",
        );
      }
      const deposits = await this.#signedDeposits(state, order);
      if (requests && state.config.getForkSeq(state.slot) >= ForkSeq.electra) {
        const before = Math.max(chain.eth1.deposits.depositCount, Number(state.eth1Data.depositCount));
        const made = await requests.addDeposits(deposits, before);
        return made.map((each) => queued("deposit_request", ssz.electra.DepositRequest.toJson(each)));
      }
      await depositLog.add(deposits);
      return deposits.map((each) => ({
        type: "deposit_data",
        status: "logged",
        data: ssz.phase0.DepositData.toJson(each),
      }));
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
    if (this.#signer.owns(subject.index)) return subject;
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
        this.#doubleProposal(state, index),
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
      : [this.#doubleVote(state, indices)];
    if (!isNeedless) await api.beacon.submitPoolAttesterSlashingsV2({ attesterSlashing: slashings[0]! });
    const type = sszTypesFor(state.config.getForkName(state.slot)).AttesterSlashing as Type<AttesterSlashing>;
    return slashings.map((each) => ({ type: "attester_slashing", data: type.toJson(each) }));
  }

  #signedExit(
    { config, epochCtx, slot }: CachedBeaconStateAllForks,
    index: ValidatorIndex,
  ): phase0.SignedVoluntaryExit {
    const message = { epoch: epochCtx.epoch, validatorIndex: index };
    const domain = config.getDomainForVoluntaryExit(slot, computeStartSlotAtEpoch(message.epoch));
    const signature = this.#signer.sign(index, computeSigningRoot(ssz.phase0.VoluntaryExit, message, domain));
    return { message, signature };
  }

  /** Two blocks of one validator in one slot. */
  #doubleProposal({ slot }: CachedBeaconStateAllForks, proposerIndex: ValidatorIndex): phase0.ProposerSlashing {
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

  /** Two attestations of the same validators to one target. */
  #doubleVote({ slot, epochCtx }: CachedBeaconStateAllForks, attesters: ValidatorIndex[]): AttesterSlashing {
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

  async #signedDeposits(state: CachedBeaconStateAllForks, order: DepositOrder): Promise<phase0.DepositData[]> {
    const { receiver, isBadlySigned, withdrawalCredentials } = order;
    const { config } = this.#parts.chain;
    const amount = Number(order.amount);
    const sign = (secretKey: SecretKey | undefined, pubkey: Uint8Array, credentials: Uint8Array) =>
      signDeposit(config, isBadlySigned || !secretKey ? SecretKey.fromKeygen(NOBODYS_SEED) : secretKey, {
        pubkey,
        withdrawalCredentials: withdrawalCredentials ?? credentials,
        amount,
      });
    if ("validator" in receiver) {
      // Nobody looks at the signature of a deposit for a validator that is there.
      const { index, validator } = this.#known(state, receiver.validator);
      return [sign(this.#parts.keys.secretKey(index), validator.pubkey, validator.withdrawalCredentials)];
    }
    const first = await this.#nextEntrant(state);
    return Array.from({ length: receiver.newValidators }, (_, n) => {
      const { secretKey, publicKey } = this.#parts.keys.entrant(first + n);
      return sign(secretKey, publicKey, blsWithdrawalCredentials(publicKey));
    });
  }

  /**
   * The index that the next validator has which enters. Those whose deposit is on its way come before; a deposit with a bad
   * signature makes nobody a validator.
   */
  async #nextEntrant(state: CachedBeaconStateAllForks): Promise<ValidatorIndex> {
    const { chain, keys, requests, depositLog } = this.#parts;
    const isElectra = state.config.getForkSeq(state.slot) >= ForkSeq.electra;
    const waiting: phase0.DepositData[] = [
      ...((await depositLog?.deposits()) ?? []),
      ...((await requests?.waitingDeposits()) ?? []),
      ...(isElectra ? (state as CachedBeaconStateElectra).pendingDeposits.getAllReadonlyValues() : []),
    ];
    const isOnItsWay = (index: ValidatorIndex) => {
      const { secretKey, publicKey } = keys.entrant(index);
      return waiting.some((deposit) => {
        if (!byteArrayEquals(deposit.pubkey, publicKey)) return false;
        return byteArrayEquals(signDeposit(chain.config, secretKey, deposit).signature, deposit.signature);
      });
    };
    let next = state.validators.length;
    while (isOnItsWay(next)) next++;
    return next;
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
