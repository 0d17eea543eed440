import { SecretKey } from "@chainsafe/blst";
import { BUILDER_WITHDRAWAL_PREFIX, ForkSeq, MAX_DEPOSITS } from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  type CachedBeaconStateElectra,
  computeStartSlotAtEpoch,
} from "@lodestar/state-transition";
import { type phase0, ssz, type ValidatorIndex } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import { ControlError, type SubmittedDeposit } from "../../api/dev-control.ts";
import { indexInRegistry } from "../../api/methods/states/registry.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import { isDepositSignatureValid, newValidatorCredentials, signDeposit } from "../genesis-deposits.ts";
import type { GenesisParameters } from "../genesis-parameters.ts";
import type { RegisteredKeys } from "../registered-keys.ts";
import { VOTING_PERIOD } from "./deposit-log.ts";
import type { ExecutionRequestSink } from "./execution-requests.ts";

/** Seed for a key that belongs to no validator, used for invalid signatures. */
const UNUSED_KEY_SEED = new Uint8Array(32).fill(0xba);

interface DevDepositsParts {
  chain: BeaconChain;
  keys: RegisteredKeys;
  requests: ExecutionRequestSink;
  log: VotedDeposits;
  /** The chain's withdrawal credentials. */
  withdrawals: GenesisParameters["withdrawals"];
}

/** Deposits that validators vote for, before electra. */
interface VotedDeposits {
  /** Number of slots before a voting period can take a new deposit. */
  readonly delaySlots: number;
  /** Deposits that the registry may not contain yet. */
  deposits(): Promise<phase0.DepositData[]>;
  /** Absent if deposits are made by transaction. */
  add?(deposits: readonly phase0.DepositData[]): Promise<void>;
}

/**
 * Makes deposits on a dev chain: by transaction if there is an EVM, otherwise through the deposit log before electra
 * and through execution requests from electra on.
 */
export class DevDeposits {
  readonly #parts: DevDepositsParts;

  constructor(parts: DevDepositsParts) {
    this.#parts = parts;
  }

  /**
   * Signs a top-up. The signature is invalid if the key is unknown, since signatures are not verified for existing
   * validators.
   */
  topUp(index: ValidatorIndex, message: phase0.DepositMessage, hasInvalidSignature: boolean): phase0.DepositData {
    return this.#sign(this.#parts.keys.secretKey(index), message, hasInvalidSignature);
  }

  /** Signs deposits for new validators with the next derived keys. Credentials default to those of the chain. */
  async newValidators(
    state: CachedBeaconStateAllForks,
    count: number,
    { amount, withdrawalCredentials }: Pick<phase0.DepositMessage, "amount"> & Partial<phase0.DepositMessage>,
    hasInvalidSignature: boolean,
  ): Promise<phase0.DepositData[]> {
    const first = await this.#nextIndex(state);
    return Array.from({ length: count }, (_, n) => {
      const { secretKey, publicKey: pubkey } = this.#parts.keys.keyPair(first + n);
      const message = {
        pubkey,
        withdrawalCredentials: withdrawalCredentials ?? newValidatorCredentials(this.#parts.withdrawals, pubkey),
        amount,
      };
      return this.#sign(secretKey, message, hasInvalidSignature);
    });
  }

  /** Queues the deposits for inclusion. */
  async submit(state: CachedBeaconStateAllForks, deposits: readonly phase0.DepositData[]): Promise<SubmittedDeposit[]> {
    const { chain, requests, log } = this.#parts;
    if (state.config.getForkSeq(state.slot) < ForkSeq.electra) {
      const waiting = Math.max(0, chain.eth1.deposits.depositCount - state.eth1DepositIndex);
      requireTimeForVote(state, waiting + deposits.length, log.delaySlots);
      await (log.add ? log.add(deposits) : requests.addDeposits(deposits, 0));
      const status = log.add ? "logged" : "queued";
      return deposits.map((each) => depositData(each, status));
    }
    const before = Math.max(chain.eth1.deposits.depositCount, Number(state.eth1Data.depositCount));
    const depositRequests = await requests.addDeposits(deposits, before);
    const { DepositRequest } = ssz.electra;
    return depositRequests.map((each) => ({
      type: "deposit_request",
      status: "queued",
      data: DepositRequest.toJson(each),
      depositDataRoot: depositDataRoot(each),
    }));
  }

  #sign(
    secretKey: SecretKey | undefined,
    message: phase0.DepositMessage,
    hasInvalidSignature: boolean,
  ): phase0.DepositData {
    const signing = hasInvalidSignature || !secretKey ? SecretKey.fromKeygen(UNUSED_KEY_SEED) : secretKey;
    return signDeposit(this.#parts.chain.config, signing, message);
  }

  /**
   * Returns the index of the next new validator, counting pending deposits. Deposits with an invalid signature do not
   * add a validator.
   */
  async #nextIndex(state: CachedBeaconStateAllForks): Promise<ValidatorIndex> {
    const { chain, keys, requests, log } = this.#parts;
    const isElectra = state.config.getForkSeq(state.slot) >= ForkSeq.electra;
    const waiting: phase0.DepositData[] = [
      ...(await log.deposits()),
      ...(await requests.pendingDeposits()),
      ...(isElectra ? (state as CachedBeaconStateElectra).pendingDeposits.getAllReadonlyValues() : []),
      ...(await this.#depositsToApply()),
    ];
    const isRegistered = (pubkey: string) => indexInRegistry(state, pubkey) !== undefined;
    const entering = new Set<string>();
    for (const deposit of waiting) {
      const pubkey = toHex(deposit.pubkey);
      // They become builders at the fork.
      if (deposit.withdrawalCredentials[0] === BUILDER_WITHDRAWAL_PREFIX) continue;
      if (entering.has(pubkey) || isRegistered(pubkey)) continue;
      if (isDepositSignatureValid(chain.config, deposit)) entering.add(pubkey);
    }
    for (let next = state.validators.length + entering.size; ; next++) {
      const pubkey = toHex(keys.keyPair(next).publicKey);
      if (!entering.has(pubkey) && !isRegistered(pubkey)) return next;
    }
  }

  /** Returns the deposits in the payload of the head since gloas, which the next block applies. */
  async #depositsToApply(): Promise<phase0.DepositData[]> {
    const { payloadStore, head, headNode } = this.#parts.chain;
    const envelope = headNode.payloadStatus === "full" ? await payloadStore.get(head.root) : null;
    return envelope?.message.executionRequests.deposits ?? [];
  }
}

/**
 * Requires the deposits to be processed before fulu, which drops the eth1 bridge. A vote starts with the next voting
 * period and needs more than half of that period. After the vote, each block includes up to MAX_DEPOSITS.
 */
function requireTimeForVote(state: CachedBeaconStateAllForks, waiting: number, delaySlots: number): void {
  const { slot, config } = state;
  const nextPeriod = (Math.floor((slot + delaySlots) / VOTING_PERIOD) + 1) * VOTING_PERIOD;
  const lastTaken = nextPeriod + VOTING_PERIOD / 2 + Math.ceil(waiting / MAX_DEPOSITS);
  const fulu = computeStartSlotAtEpoch(config.FULU_FORK_EPOCH);
  if (lastTaken < fulu) return;
  throw ControlError.conflict(
    `The eth1 vote on the deposit would end at slot ${lastTaken}, but fulu, which has no eth1 votes, activates at ` +
      `slot ${fulu}. ` +
      `Make the deposit at slot ${computeStartSlotAtEpoch(config.ELECTRA_FORK_EPOCH)} (electra) or later.`,
  );
}

export function depositData(deposit: phase0.DepositData, status: SubmittedDeposit["status"]): SubmittedDeposit {
  return {
    type: "deposit_data",
    status,
    data: ssz.phase0.DepositData.toJson(deposit),
    depositDataRoot: depositDataRoot(deposit),
  };
}

function depositDataRoot(deposit: phase0.DepositData): string {
  return toHex(ssz.phase0.DepositData.hashTreeRoot(deposit));
}
