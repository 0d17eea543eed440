import { Tree } from "@chainsafe/persistent-merkle-tree";
import { BitArray } from "@chainsafe/ssz";
import type { BeaconConfig } from "@lodestar/config";
import {
  DOMAIN_DEPOSIT,
  EPOCHS_PER_ETH1_VOTING_PERIOD,
  FAR_FUTURE_EPOCH,
  type ForkPostBellatrix,
  ForkSeq,
  MAX_ATTESTATIONS_ELECTRA,
  MAX_COMMITTEES_PER_SLOT,
  SLOTS_PER_EPOCH,
  SYNC_COMMITTEE_SIZE,
} from "@lodestar/params";
import {
  BeaconStateView,
  becomesNewEth1Data,
  type CachedBeaconStateAllForks,
  type CachedBeaconStateBellatrix,
  computeDomain,
  computeEpochAtSlot,
  computeSigningRoot,
  computeStartSlotAtEpoch,
  computeTimeAtSlot,
  getBlockRootAtSlot,
  getEth1DepositCount,
  isActiveValidator,
  isValidVoluntaryExit,
  ZERO_HASH,
} from "@lodestar/state-transition";
import {
  type Attestation,
  type altair,
  type BeaconBlockBody,
  type bellatrix,
  type electra,
  type phase0,
  type Slot,
  ssz,
  type ValidatorIndex,
} from "@lodestar/types";
import { eth1DataAfter, genesisDeposits } from "../../../src/dev/genesis-deposits.ts";
import { InteropKeys } from "../../../src/dev/interop-keys.ts";
import { createDevPayload } from "../../../src/execution/dev-payload.ts";

type State = CachedBeaconStateAllForks;

/** Vote of some attesters of a slot, to be included later. */
interface Vote {
  slot: Slot;
  /** Participation by committee. */
  bits: boolean[][];
  headRoot: Uint8Array;
  targetRoot: Uint8Array;
  /** First slot of inclusion. */
  from: Slot;
}

const ETHER = 1e9;
const OTHER_ROOT = new Uint8Array(32).fill(0xee);
/** Minimum number of validators that never exit. */
const MIN_ACTIVE = 40;
const MAX_SLASHED = 8;

/** Random blocks with all operations that change balances. */
export class RandomHistory {
  readonly #config: BeaconConfig;
  readonly #random: () => number;
  readonly #keys: InteropKeys;
  readonly #deposits: phase0.DepositData[];
  #eth1Data: phase0.Eth1Data;
  #votes: Vote[] = [];
  #nextKey: number;

  /** `validatorCount` is the number of genesis validators. */
  constructor(config: BeaconConfig, random: () => number, validatorCount: number) {
    this.#config = config;
    this.#random = random;
    // Derived lazily.
    this.#keys = new InteropKeys(100 * validatorCount);
    this.#deposits = genesisDeposits(config, new InteropKeys(validatorCount));
    this.#eth1Data = eth1DataAfter(this.#deposits, OTHER_ROOT);
    this.#nextKey = validatorCount;
  }

  /** Builds a block body. Null for an empty slot. */
  body(state: State): BeaconBlockBody | null {
    const { slot } = state;
    const fork = this.#config.getForkSeq(slot);
    if (slot % (EPOCHS_PER_ETH1_VOTING_PERIOD * SLOTS_PER_EPOCH) === 0) this.#renewEth1Data(state, fork);
    this.#voteOf(state, slot - 1);
    const proposer = state.epochCtx.getBeaconProposer(slot);
    if (state.validators.getReadonly(proposer).slashed || this.#chance(0.08)) return null;

    const body = this.#config.getForkTypes(slot).BeaconBlockBody.defaultValue() as BeaconBlockBody;
    body.randaoReveal = new Uint8Array(96).map(() => Math.floor(this.#random() * 256));
    body.eth1Data = this.#eth1Data;
    body.attestations = this.#attestations(state, fork) as typeof body.attestations;
    if (fork < ForkSeq.fulu) body.deposits = this.#depositsDue(state);
    this.#addOperation(body, state, fork, proposer);
    if (fork >= ForkSeq.altair) {
      const share = this.#chance(0.2) ? 0.3 : 0.9;
      const bits = Array.from({ length: SYNC_COMMITTEE_SIZE }, () => this.#chance(share));
      (body as altair.BeaconBlockBody).syncAggregate.syncCommitteeBits = BitArray.fromBoolArray(bits);
    }
    if (fork >= ForkSeq.bellatrix) (body as bellatrix.BeaconBlockBody).executionPayload = this.#payload(state, fork);
    if (fork >= ForkSeq.electra) this.#addRequests(body as electra.BeaconBlockBody, state);
    return body;
  }

  #chance(probability: number): boolean {
    return this.#random() < probability;
  }

  #oneOf<T>(items: readonly T[]): T | undefined {
    return items[Math.floor(this.#random() * items.length)];
  }

  /** Creates the votes of a slot: too few during leaks, some wrong, some included late. */
  #voteOf(state: State, slot: Slot): void {
    const { epochCtx } = state;
    const epoch = computeEpochAtSlot(slot);
    const share = epoch % 20 >= 8 && epoch % 20 < 16 ? 0.5 : 0.95;
    const targetRoot = getBlockRootAtSlot(state, computeStartSlotAtEpoch(epoch));
    const headRoot = getBlockRootAtSlot(state, slot);
    const committees = Array.from({ length: epochCtx.getCommitteeCountPerSlot(epoch) }, (_, index) =>
      epochCtx.getBeaconCommittee(slot, index),
    );
    const kinds = [
      { headRoot, targetRoot },
      { headRoot: OTHER_ROOT, targetRoot },
      { headRoot: OTHER_ROOT, targetRoot: OTHER_ROOT },
    ];
    const chosen = committees.map((committee) =>
      Array.from(committee, () => {
        if (!this.#chance(share)) return undefined;
        return this.#chance(0.85) ? kinds[0] : this.#oneOf(kinds);
      }),
    );
    for (const kind of kinds) {
      const bits = chosen.map((committee) => committee.map((of) => of === kind));
      this.#votes.push({ slot, bits, ...kind, from: slot + this.#delay() });
      // Part of it is included a second time, possibly aggregated with others.
      if (this.#chance(0.3)) {
        const some = bits.map((committee) => committee.map((took) => took && this.#chance(0.5)));
        this.#votes.push({ slot, bits: some, ...kind, from: slot + this.#delay() });
      }
    }
  }

  #delay(): number {
    return this.#chance(0.75) ? 1 : 1 + Math.floor(this.#random() * 9);
  }

  #attestations(state: State, fork: ForkSeq): Attestation[] {
    const { slot, epochCtx } = state;
    const isTimely = (vote: Vote) => fork >= ForkSeq.deneb || slot <= vote.slot + SLOTS_PER_EPOCH;
    this.#votes = this.#votes.filter((vote) => computeEpochAtSlot(vote.slot) >= epochCtx.epoch - 1 && isTimely(vote));
    const due = this.#votes.filter(({ from }) => from <= slot).slice(0, MAX_ATTESTATIONS_ELECTRA);
    this.#votes = this.#votes.filter((vote) => !due.includes(vote));
    return due.flatMap((vote) => attestationsOf(state, fork, vote));
  }

  /** Updates the deposit contract. Before electra, every voting period has new deposits. */
  #renewEth1Data(state: State, fork: ForkSeq): void {
    if (fork >= ForkSeq.electra) return;
    this.#deposits.push(this.#newDeposit(32 * ETHER), this.#topUp(state));
    this.#eth1Data = eth1DataAfter(this.#deposits, new Uint8Array(32).fill(state.slot % 256));
  }

  #depositsDue(state: State): phase0.Deposit[] {
    const vote = ssz.phase0.Eth1Data.toViewDU(this.#eth1Data);
    const eth1Data = becomesNewEth1Data(state, vote) ? vote : state.eth1Data;
    const count = getEth1DepositCount(state, eth1Data);
    if (count === 0) return [];
    const known = this.#deposits.slice(0, Number(eth1Data.depositCount));
    const type = ssz.phase0.DepositDataRootList;
    const tree = new Tree(type.toViewDU(known.map((data) => ssz.phase0.DepositData.hashTreeRoot(data))).node);
    return Array.from({ length: count }, (_, position) => {
      const index = state.eth1DepositIndex + position;
      return { proof: tree.getSingleProof(type.getPathInfo([index]).gindex), data: known[index]! };
    });
  }

  #newDeposit(amount: number): phase0.DepositData {
    const index = this.#nextKey++;
    const message = { pubkey: this.#keys.publicKey(index)!, withdrawalCredentials: credentials(0x01), amount };
    const domain = computeDomain(DOMAIN_DEPOSIT, this.#config.GENESIS_FORK_VERSION, ZERO_HASH);
    const signingRoot = computeSigningRoot(ssz.phase0.DepositMessage, message, domain);
    return { ...message, signature: this.#keys.secretKey(index)!.sign(signingRoot).toBytes() };
  }

  #topUp({ validators }: State): phase0.DepositData {
    const { pubkey, withdrawalCredentials } = validators.getReadonly(Math.floor(this.#random() * validators.length));
    const amount = ETHER + Math.floor(this.#random() * ETHER);
    return { pubkey, withdrawalCredentials, amount, signature: ssz.BLSSignature.defaultValue() };
  }

  /** Adds at most one exit or slashing. */
  #addOperation(body: BeaconBlockBody, state: State, fork: ForkSeq, proposer: ValidatorIndex): void {
    const { epoch } = state.epochCtx;
    const validators = state.validators.getAllReadonlyValues();
    const staying = [...validators.keys()].filter((index) => {
      const validator = validators[index]!;
      return index !== proposer && isActiveValidator(validator, epoch) && validator.exitEpoch === FAR_FUTURE_EPOCH;
    });
    if (staying.length < MIN_ACTIVE || !this.#chance(0.15)) return;
    const leaving = this.#oneOf(staying)!;
    const slashed = [...validators.keys()].filter((index) => validators[index]!.slashed);
    if (slashed.length < MAX_SLASHED && this.#chance(0.5)) {
      // Includes an already slashed validator, which must not be slashed again.
      const again = slashed.slice(0, 1);
      if (this.#chance(0.5)) body.proposerSlashings.push(doubleProposal(leaving, state.slot));
      else body.attesterSlashings.push(doubleVote([...again, leaving], epoch));
      return;
    }
    const exit = { message: { epoch, validatorIndex: leaving }, signature: ssz.BLSSignature.defaultValue() };
    if (isValidVoluntaryExit(fork, state, exit, false)) body.voluntaryExits.push(exit);
  }

  #payload(state: State, fork: ForkSeq): bellatrix.ExecutionPayload {
    const { slot, genesisTime, latestExecutionPayloadHeader } = state as CachedBeaconStateBellatrix;
    const { blockHash, blockNumber } = latestExecutionPayloadHeader;
    const view = new BeaconStateView(state);
    const request = {
      fork: ForkSeq[fork] as ForkPostBellatrix,
      slot,
      timestamp: computeTimeAtSlot(this.#config, slot, genesisTime),
      prevRandao: view.getRandaoMix(view.epoch),
      feeRecipient: new Uint8Array(20),
      withdrawals: fork >= ForkSeq.capella ? view.getExpectedWithdrawals().expectedWithdrawals : [],
      parent: { blockHash, blockNumber },
      parentBeaconBlockRoot: OTHER_ROOT,
    };
    return createDevPayload(request, blockHash, blockNumber + 1) as bellatrix.ExecutionPayload;
  }

  /** Adds execution requests: deposits, withdrawals of the excess over 32 ETH, and consolidations. */
  #addRequests({ executionRequests }: electra.BeaconBlockBody, state: State): void {
    const { validators } = state;
    if (this.#chance(0.05)) {
      const deposit = this.#chance(0.4) ? this.#newDeposit(33 * ETHER) : this.#topUp(state);
      executionRequests.deposits.push({ ...deposit, index: BigInt(this.#deposits.length) });
    }
    const { pubkey, withdrawalCredentials } = validators.getReadonly(Math.floor(this.#random() * validators.length));
    const sourceAddress = withdrawalCredentials.subarray(12);
    if (this.#chance(0.1)) {
      const amount = BigInt(ETHER / 2);
      executionRequests.withdrawals.push({ sourceAddress, validatorPubkey: pubkey, amount });
    }
    if (this.#chance(0.25)) {
      const target = this.#oneOf(
        validators.getAllReadonlyValues().filter((validator) => validator.withdrawalCredentials[0] === 0x02),
      );
      // A consolidation with itself switches to compounding.
      const targetPubkey = target && this.#chance(0.5) ? target.pubkey : pubkey;
      executionRequests.consolidations.push({ sourceAddress, sourcePubkey: pubkey, targetPubkey });
    }
  }
}

/** Withdrawal credentials of an execution address. */
export function credentials(prefix: 0x01 | 0x02): Uint8Array {
  const bytes = new Uint8Array(32).fill(0xaa);
  bytes[0] = prefix;
  bytes.fill(0, 1, 12);
  return bytes;
}

/** Formats a vote for the block's fork: one attestation since electra, one per committee before. */
function attestationsOf(state: State, fork: ForkSeq, { slot, bits, headRoot, targetRoot }: Vote): Attestation[] {
  const epoch = computeEpochAtSlot(slot);
  const justified =
    epoch === state.epochCtx.epoch ? state.currentJustifiedCheckpoint : state.previousJustifiedCheckpoint;
  const data: phase0.AttestationData = {
    slot,
    index: 0,
    beaconBlockRoot: headRoot,
    source: justified.toValue(),
    target: { epoch, root: targetRoot },
  };
  const signature = ssz.BLSSignature.defaultValue();
  const present = [...bits.keys()].filter((index) => bits[index]!.includes(true));
  if (present.length === 0) return [];
  if (fork < ForkSeq.electra) {
    return present.map((index) => ({
      aggregationBits: BitArray.fromBoolArray(bits[index]!),
      data: { ...data, index },
      signature,
    }));
  }
  const committeeBits = BitArray.fromBitLen(MAX_COMMITTEES_PER_SLOT);
  for (const index of present) committeeBits.set(index, true);
  return [
    {
      aggregationBits: BitArray.fromBoolArray(present.flatMap((index) => bits[index]!)),
      committeeBits,
      data,
      signature,
    },
  ];
}

function doubleProposal(proposerIndex: ValidatorIndex, slot: Slot): phase0.ProposerSlashing {
  const header = (mark: number): phase0.SignedBeaconBlockHeaderBigint => ({
    message: {
      slot: BigInt(slot),
      proposerIndex,
      parentRoot: OTHER_ROOT,
      stateRoot: OTHER_ROOT,
      bodyRoot: new Uint8Array(32).fill(mark),
    },
    signature: ssz.BLSSignature.defaultValue(),
  });
  return { signedHeader1: header(1), signedHeader2: header(2) };
}

function doubleVote(attesters: readonly ValidatorIndex[], target: number): phase0.AttesterSlashing {
  const vote = (mark: number): phase0.IndexedAttestationBigint => ({
    attestingIndices: attesters.toSorted((a, b) => a - b),
    data: {
      slot: BigInt(computeStartSlotAtEpoch(target)),
      index: 0n,
      beaconBlockRoot: new Uint8Array(32).fill(mark),
      source: { epoch: 0n, root: OTHER_ROOT },
      target: { epoch: BigInt(target), root: OTHER_ROOT },
    },
    signature: ssz.BLSSignature.defaultValue(),
  });
  return { attestation1: vote(1), attestation2: vote(2) };
}
