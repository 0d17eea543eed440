import { isDeepStrictEqual } from "node:util";
import type { BeaconConfig } from "@lodestar/config";
import { EFFECTIVE_BALANCE_INCREMENT, ForkSeq, PTC_SIZE, SLOTS_PER_EPOCH, ZERO_HASH_HEX } from "@lodestar/params";
import {
  BeaconStateView,
  type CachedBeaconStateAllForks,
  computeEpochAtSlot,
  computeStartSlotAtEpoch,
  createCachedBeaconState,
  createPubkeyCache,
  DataAvailabilityStatus,
  ExecutionPayloadStatus,
  getAttesterSlashableIndices,
  getEffectiveBalanceIncrementsZeroInactive,
  getExecutionPayloadEnvelopeSignatureSet,
  getIndexedAttestationSignatureSet,
  getIndexedPayloadAttestationSignatureSet,
  type ISignatureSet,
  processSlots,
  stateTransition,
  verifySignatureSet,
} from "@lodestar/state-transition";
import {
  type Attestation,
  type AttesterSlashing,
  type BeaconBlock,
  type gloas,
  type IndexedAttestation,
  type RootHex,
  type SignedBeaconBlock,
  sszTypesFor,
} from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { attestationDueShare, payloadAttestationDueShare } from "../../../src/chain/clock/slot-timing.ts";
import { ForkChoiceError } from "../../../src/chain/fork-choice/error.ts";
import { ForkChoice } from "../../../src/chain/fork-choice/fork-choice.ts";
import type { Checkpoint, ForkChoiceNode } from "../../../src/chain/fork-choice/types.ts";
import {
  applyBlockAttestations,
  committeePositions,
  toCheckpoint,
  toForkChoiceBlock,
} from "../../../src/chain/import/fork-choice-import.ts";
import { faultOfEnvelope } from "../../../src/chain/payloads/envelope-verification.ts";
import { ProposerHead } from "../../../src/chain/production/proposer-head.ts";
import { assertionOf, type CheckpointBalances, SpecAssertion, SpecStore } from "../chain/fork-choice/spec-store.ts";
import { type ForkChoiceAnchor, type ForkChoiceSubject, PAYLOAD_STATUS } from "./fork-choice-steps.ts";

/** The transition or a signature check rejects the input. */
class Refusal extends Error {}

const VERIFY_ALL = {
  executionPayloadStatus: ExecutionPayloadStatus.valid,
  dataAvailabilityStatus: DataAvailabilityStatus.Available,
  verifyStateRoot: true,
  verifyProposer: true,
  verifySignatures: true,
};

/**
 * The specification's store and the node's fork choice as one subject of vectors. Both get the same blocks, after the
 * state transition, and must agree on every answer.
 */
export class ModelledForkChoice implements ForkChoiceSubject {
  readonly #config: BeaconConfig;
  readonly #genesisTime: number;
  readonly #states = new Map<RootHex, CachedBeaconStateAllForks>();
  readonly #balances = new Map<string, Required<CheckpointBalances>>();
  readonly #spec: SpecStore;
  readonly #forkChoice: ForkChoice;
  #time: number;

  constructor({ fork, stateBytes, block }: ForkChoiceAnchor, config: BeaconConfig) {
    const view = sszTypesFor(fork).BeaconState.deserializeToViewDU(stateBytes);
    const state = createCachedBeaconState(view, { config, pubkeyCache: createPubkeyCache() });
    const root = toRootHex(sszTypesFor(fork).BeaconBlock.hashTreeRoot(block));
    const checkpoint = { epoch: computeEpochAtSlot(state.slot), root };
    const signed = { message: block, signature: new Uint8Array(96) };
    const anchor = { ...this.#toBlock(signed, root, state), justified: checkpoint, finalized: checkpoint };
    this.#config = config;
    this.#genesisTime = state.genesisTime;
    this.#time = state.genesisTime + state.slot * config.SECONDS_PER_SLOT;
    this.#states.set(root, state);
    const { balances, totalActive, effectiveBalances } = this.#balancesAt(checkpoint);
    const { slot: currentSlot } = state;
    this.#spec = new SpecStore({
      anchor,
      checkpoint,
      currentSlot,
      slotsPerEpoch: SLOTS_PER_EPOCH,
      boostPercent: config.PROPOSER_SCORE_BOOST,
      gloasEpoch: config.GLOAS_FORK_EPOCH,
      ptcSize: PTC_SIZE,
      balancesAt: (ofCheckpoint) => this.#balancesAt(ofCheckpoint),
      committeeMembers: (ofBlock) => [...this.#committeesOf(ofBlock)].flatMap((committee) => [...committee]),
    });
    this.#forkChoice = ForkChoice.fromAnchor({
      config,
      anchor,
      checkpoint,
      currentSlot,
      balances,
      totalActiveBalance: totalActive,
      effectiveBalances,
    });
  }

  isRefusal(error: unknown): boolean {
    return error instanceof SpecAssertion || error instanceof Refusal;
  }

  onTick(time: number): void {
    this.#time = time;
    this.#spec.onTick(this.#currentSlot);
    this.#forkChoice.onTick(this.#currentSlot);
  }

  onBlock(signed: SignedBeaconBlock): void {
    const block = signed.message;
    const root = toRootHex(this.#config.getForkTypes(block.slot).BeaconBlock.hashTreeRoot(block));
    if (this.#spec.blocks.has(root)) return;
    const preState = this.#states.get(toRootHex(block.parentRoot));
    const state = preState && refusingErrors(() => stateTransition(preState, signed, VERIFY_ALL));
    this.#provideBalances();
    // Blocks that the transition refuses or that have no parent never get to fork choice.
    if (state === undefined) throw new Refusal("unknown parent");
    const made = this.#toBlock(signed, root, state);
    this.#states.set(root, state);
    const timely = this.#isBefore(block.slot, attestationDueShare(this.#config, block.slot));
    const ptcTimely = this.#isBefore(block.slot, payloadAttestationDueShare(this.#config));
    this.#both(
      () => this.#spec.onBlock(made, [timely, ptcTimely], payloadAttestationsOf(block, state)),
      () => this.#forkChoice.onBlock(made, { timely, ptcTimely, committees: () => this.#committeesOf(root) }),
    );
    for (const slashing of block.body.attesterSlashings) this.onAttesterSlashing(slashing);
    const fork = this.#config.getForkSeq(block.slot);
    const indexed = block.body.attestations.map((attestation) =>
      this.#stateAt(toCheckpoint(attestation.data.target)).epochCtx.getIndexedAttestation(fork, attestation),
    );
    for (const attestation of indexed) {
      assertionOf(() => this.#spec.onAttestation(toVote(attestation), { isFromBlock: true }));
    }
    applyBlockAttestations(this.#forkChoice, block, indexed, state);
  }

  onAttestation(attestation: Attestation): void {
    const { data } = attestation;
    const target = toCheckpoint(data.target);
    if (!this.#spec.blocks.has(target.root)) throw new Refusal("unknown target");
    const { epochCtx } = this.#stateAt(target);
    const indexed = epochCtx.getIndexedAttestation(this.#config.getForkSeq(data.slot), attestation);
    this.#verify(getIndexedAttestationSignatureSet(this.#config, data.slot, indexed));
    // What the specification rejects does not pass gossip validation.
    if (this.#spec.onAttestation(toVote(indexed), { isFromBlock: false }) === "delayed") {
      throw new Refusal("an attestation of the current slot");
    }
    const { index, ...vote } = toVote(indexed);
    this.#forkChoice.onAttestation(
      { ...vote, targetEpoch: target.epoch, payloadPresent: index === 1 },
      { isFromBlock: false },
    );
  }

  onAttesterSlashing(slashing: AttesterSlashing): void {
    const indices = getAttesterSlashableIndices(slashing);
    this.#spec.onAttesterSlashing(indices);
    this.#forkChoice.onAttesterSlashing(indices);
  }

  onExecutionPayloadEnvelope(signed: gloas.SignedExecutionPayloadEnvelope, columns?: unknown[]): void {
    const { message } = signed;
    const root = toRootHex(message.beaconBlockRoot);
    const state = this.#states.get(root);
    if (state === undefined || columns?.length === 0) throw new Refusal("unknown block or missing columns");
    const { pubkeyCache } = state.epochCtx;
    const { proposerIndex } = state.latestBlockHeader;
    const view = new BeaconStateView(state);
    this.#verify(getExecutionPayloadEnvelopeSignatureSet(this.#config, pubkeyCache, view, signed, proposerIndex));
    const fault = faultOfEnvelope(this.#config, state, message);
    if (fault !== undefined) throw new Refusal(fault);
    this.#spec.onPayload(root);
    this.#forkChoice.onPayload(root, { status: "valid", blockNumber: message.payload.blockNumber });
  }

  onPayloadAttestationMessage({ data, validatorIndex, signature }: gloas.PayloadAttestationMessage): void {
    const blockRoot = toRootHex(data.beaconBlockRoot);
    const { slot, payloadPresent, blobDataAvailable } = data;
    const state = this.#states.get(blockRoot);
    if (state === undefined) throw new Refusal("unknown block");
    if (slot !== state.slot) return;
    const committee = state.epochCtx.getPayloadTimelinessCommittee(slot);
    const positions = committeePositions(committee, new Set([validatorIndex]));
    if (positions.length === 0) throw new Refusal("not a member of the committee");
    const votes = { blockRoot, slot, positions, payloadPresent, blobDataAvailable };
    const indexed = { attestingIndices: [validatorIndex], data, signature };
    this.#verify(getIndexedPayloadAttestationSignatureSet(this.#config, indexed));
    this.#spec.onPayloadAttestation(votes, { isFromBlock: false });
    this.#forkChoice.onPayloadAttestation(votes);
  }

  head() {
    const { root, payloadStatus } = this.#headNode();
    return { slot: this.#forkChoice.get(root)!.slot, root, payloadStatus: PAYLOAD_STATUS[payloadStatus] };
  }

  time(): number {
    return this.#time;
  }

  genesisTime(): number {
    return this.#genesisTime;
  }

  justifiedCheckpoint(): Checkpoint {
    return agreed(this.#forkChoice.justified, this.#spec.justified);
  }

  finalizedCheckpoint(): Checkpoint {
    return agreed(this.#forkChoice.finalized, this.#spec.finalized);
  }

  proposerBoostRoot(): RootHex {
    return agreed(this.#forkChoice.proposerBoostRoot, this.#spec.boostedRoot) ?? ZERO_HASH_HEX;
  }

  viableHeads() {
    this.#headNode();
    return this.#spec.viableHeads().map(({ root, payloadStatus, weight }) => ({
      root,
      weight: agreed(this.#weightOf({ root, payloadStatus }), weight),
      ...(this.#isGloas && { payloadStatus: PAYLOAD_STATUS[payloadStatus] }),
    }));
  }

  proposerHead(): RootHex {
    const slot = this.#currentSlot;
    const head = this.#headNode();
    const cutoffMs = this.#config.getProposerReorgCutoffMs(this.#config.getForkName(slot));
    const isOnTime = (this.#time - this.#slotStart(slot)) * 1000 <= cutoffMs;
    const expected = this.#spec.getProposerHead(head, slot, isOnTime);
    const proposerHead = new ProposerHead({
      config: this.#config,
      clock: {
        currentSlot: slot,
        currentEpoch: computeEpochAtSlot(slot),
        nowSeconds: () => this.#time,
        slotStartSeconds: (ofSlot) => this.#slotStart(ofSlot),
      },
      forkChoice: this.#forkChoice,
      tracker: { head: this.#forkChoice.head, headNode: head, headState: this.#states.get(head.root)! },
      preparations: { feeRecipient: () => undefined },
      settings: { proposerReorgs: true },
    });
    const payloadStatus = this.#spec.shouldBuildOnFull(expected, slot) ? "full" : "empty";
    return agreed(proposerHead.parentFor(slot), { root: expected.root, payloadStatus }).root;
  }

  payloadTimelinessVotes(root: RootHex) {
    const votes = this.#forkChoice.payloadVotesOf(root, "payloadPresent");
    return agreed(votes, this.#spec.committeeVotes(root).timeliness);
  }

  payloadDataAvailabilityVotes(root: RootHex) {
    const votes = this.#forkChoice.payloadVotesOf(root, "blobDataAvailable");
    return agreed(votes, this.#spec.committeeVotes(root).dataAvailability);
  }

  #headNode(): ForkChoiceNode {
    this.#provideBalances();
    this.#forkChoice.updateHead();
    for (const root of this.#spec.blocks.keys()) {
      const statuses = this.#spec.blocks.get(root)!.bid
        ? (["pending", "empty", "full"] as const)
        : (["pending"] as const);
      for (const payloadStatus of statuses) {
        const node = { root, payloadStatus };
        agreed(this.#weightOf(node), this.#spec.getWeight(node));
      }
    }
    return agreed(this.#forkChoice.headNode, this.#spec.getHead());
  }

  /** In Gwei. */
  #weightOf({ root, payloadStatus }: ForkChoiceNode): number {
    return Math.round(this.#forkChoice.weightOf(root, payloadStatus) * EFFECTIVE_BALANCE_INCREMENT);
  }

  /** Runs both handlers, which must agree on whether the input is valid. */
  #both(specify: () => void, handle: () => void): void {
    const assertion = assertionOf(specify);
    try {
      handle();
    } catch (error) {
      if (!(error instanceof ForkChoiceError)) throw error;
      if (assertion === null) throw new Error(`fork choice refuses what the specification accepts: ${error.message}`);
      throw new Refusal(assertion);
    }
    if (assertion !== null) throw new Error(`fork choice accepts what is not so that ${assertion}`);
  }

  #toBlock(signed: SignedBeaconBlock, root: RootHex, state: CachedBeaconStateAllForks) {
    const isGloas = "signedExecutionPayloadBid" in signed.message.body;
    return toForkChoiceBlock({ signed, root, state, execution: { status: isGloas ? "absent" : "pre-merge" } });
  }

  #committeesOf(root: RootHex): Iterable<Uint32Array> {
    const { slot, epochCtx } = this.#states.get(root)!;
    return epochCtx.getShufflingAtSlot(slot).committees[slot % SLOTS_PER_EPOCH]!;
  }

  #stateAt({ epoch, root }: Checkpoint): CachedBeaconStateAllForks {
    const state = this.#states.get(root)!;
    const start = computeStartSlotAtEpoch(epoch);
    return state.slot < start ? processSlots(state, start) : state;
  }

  #balancesAt(checkpoint: Checkpoint): Required<CheckpointBalances> {
    const key = `${checkpoint.epoch}/${checkpoint.root}`;
    let held = this.#balances.get(key);
    if (held === undefined) {
      const state = this.#stateAt(checkpoint);
      const { totalActiveBalanceIncrements: totalActive, effectiveBalanceIncrements: effectiveBalances } =
        state.epochCtx;
      held = { balances: getEffectiveBalanceIncrementsZeroInactive(state), totalActive, effectiveBalances };
      this.#balances.set(key, held);
    }
    return held;
  }

  #provideBalances(): void {
    const checkpoint = this.#forkChoice.needsBalances();
    if (checkpoint === null) return;
    const { balances, totalActive, effectiveBalances } = this.#balancesAt(checkpoint);
    this.#forkChoice.setJustifiedBalances(checkpoint, balances, totalActive, effectiveBalances);
  }

  #verify(set: ISignatureSet): void {
    const { pubkeyCache } = this.#states.values().next().value!.epochCtx;
    if (!refusingErrors(() => verifySignatureSet(set, pubkeyCache))) throw new Refusal("bad signature");
  }

  #isBefore(slot: number, share: number): boolean {
    return this.#time < this.#slotStart(slot) + share * this.#config.SECONDS_PER_SLOT;
  }

  #slotStart(slot: number): number {
    return this.#genesisTime + slot * this.#config.SECONDS_PER_SLOT;
  }

  get #currentSlot(): number {
    return Math.floor((this.#time - this.#genesisTime) / this.#config.SECONDS_PER_SLOT);
  }

  get #isGloas(): boolean {
    return this.#config.getForkSeq(this.#currentSlot) >= ForkSeq.gloas;
  }
}

function agreed<T>(actual: T, expected: unknown): T {
  if (isDeepStrictEqual(actual, expected)) return actual;
  throw new Error(`fork choice has ${JSON.stringify(actual)}, its model ${JSON.stringify(expected)}`);
}

/** Errors of the libraries mean that the input is invalid. Faults of programming do not. */
function refusingErrors<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (error instanceof TypeError) throw error;
    throw new Refusal(String(error));
  }
}

function toVote({ attestingIndices, data }: IndexedAttestation) {
  const { slot, index } = data;
  return {
    indices: [...attestingIndices],
    slot,
    index,
    blockRoot: toRootHex(data.beaconBlockRoot),
    target: toCheckpoint(data.target),
  };
}

/** notify_ptc_messages: the votes of a block, by the positions of their validators. */
function payloadAttestationsOf({ body }: BeaconBlock, { epochCtx }: CachedBeaconStateAllForks) {
  const { payloadAttestations = [] } = body as Partial<gloas.BeaconBlockBody>;
  return payloadAttestations.map((attestation) => {
    const { slot, beaconBlockRoot, payloadPresent, blobDataAvailable } = attestation.data;
    const { attestingIndices } = epochCtx.getIndexedPayloadAttestation(slot, attestation);
    const positions = committeePositions(epochCtx.getPayloadTimelinessCommittee(slot), new Set(attestingIndices));
    return { blockRoot: toRootHex(beaconBlockRoot), slot, positions, payloadPresent, blobDataAvailable };
  });
}
