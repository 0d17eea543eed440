import { BitArray } from "@chainsafe/ssz";
import {
  DOMAIN_BEACON_PROPOSER,
  ForkSeq,
  GENESIS_SLOT,
  SLOTS_PER_EPOCH,
  SYNC_COMMITTEE_SUBNET_COUNT,
} from "@lodestar/params";
import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import { type altair, type phase0, type RootHex, type Slot, ssz, type ValidatorIndex } from "@lodestar/types";
import { fromHex, toRootHex } from "@lodestar/utils";
import type { BeaconChain } from "../../chain/chain.ts";
import type { ForkChoiceNode } from "../../chain/fork-choice/types.ts";
import { signAhead } from "../../chain/pools/pooled-signature.ts";
import { attestationDataOn, attestationIndex, stateToAttestOn } from "../../chain/production/attestation-data.ts";
import type { ProducedFullBlock } from "../../chain/production/block-producer.ts";
import { blockRequest } from "../../chain/production/block-request.ts";
import { subcommitteeMembers } from "../../chain/validation/sync-committee-at.ts";
import type { BidsOfSlot, BuilderPayload } from "../builders/slot-bids.ts";
import { type DutyFailures, PROPOSE } from "./duty-failures.ts";
import { type DutyPlan, isOnline } from "./duty-plan.ts";
import type { SlotSchedule } from "./duty-timing.ts";
import type { LateBlocks } from "./late-blocks.ts";
import type { LazyAggregateSignature } from "./lazy-aggregate-signature.ts";
import { invalidPayload } from "./payloads/false-payloads.ts";
import { LockstepPayloads } from "./payloads/lockstep-payloads.ts";
import type { WithheldPayloads } from "./payloads/withheld-payloads.ts";
import type { ValidatorSigner } from "./signer.ts";
import type { SlashingProtection } from "./slashing-protection.ts";

interface LockstepModules {
  chain: BeaconChain;
  signer: ValidatorSigner;
  history: SlashingProtection;
  failures: DutyFailures;
  late: LateBlocks;
  withheld: WithheldPayloads;
  /** Bids of the chain's builders since gloas. */
  builderBids?: BidsOfSlot | undefined;
  schedule: Pick<SlotSchedule, "payloadAttestationDue">;
}

/** A signed block that is imported without the API, and since gloas its payload. */
export interface DirectProposal {
  validatorIndex: ValidatorIndex;
  publish(): Promise<boolean>;
  reveal(): Promise<void>;
}

/** Parent of a block, and since gloas whether the block builds on the parent's payload. */
type ProposalParent = Pick<ForkChoiceNode, "root"> & Partial<ForkChoiceNode>;

/** Block of a slot and its lazy signature. */
interface Proposal {
  block: ProducedFullBlock;
  signature: LazyAggregateSignature;
  /** Plan of the slot, which a builder that withholds its payload overrides. */
  plan: DutyPlan;
}

/** Block that validators vote for in a slot. */
interface VoteTarget {
  root: RootHex;
  /** Result of `stateToAttestOn`. */
  state: CachedBeaconStateAllForks;
}

/** Votes in a slot for one target. */
interface TargetVotes {
  votes: CommitteeVote[];
  syncVotes: SubcommitteeVote[];
}

type IsVoter = (voter: ValidatorIndex) => boolean;

/** Aggregate attestation by our members of a committee. */
interface CommitteeVote {
  committeeIndex: number;
  committee: Uint32Array;
  data: phase0.AttestationData;
  bits: BitArray;
  attestingIndices: ValidatorIndex[];
  signature: LazyAggregateSignature;
}

/** Contribution by our members of a sync subcommittee. */
interface SubcommitteeVote {
  contribution: Omit<altair.SyncCommitteeContribution, "signature"> & { signature: LazyAggregateSignature };
  members: ValidatorIndex[];
}

/**
 * Fast path for the duties of a slot on a chain that only this process sees. Produces and signs the same blocks and
 * votes as API clients would, but skips redundant work: the post-state of a produced block is imported with the block,
 * and votes are added to the pools as lazy aggregates, signed only when a block includes them.
 */
export class LockstepDuties {
  readonly #modules: LockstepModules;
  readonly #payloads: LockstepPayloads;

  constructor(modules: LockstepModules) {
    this.#modules = modules;
    this.#payloads = new LockstepPayloads(modules);
  }

  /** Performs all duties of the slot. Logs failed duties; never rejects. */
  async act(slot: Slot, plan: DutyPlan): Promise<void> {
    const { chain, history, failures, late } = this.#modules;
    await chain.refreshHead();
    const headRoot = plan.parentRoot ?? chain.head.root;
    const proposal = await failures.attempt(PROPOSE, slot, () => this.#propose(slot, plan));
    if (proposal === null) failures.markInconclusive(PROPOSE, slot);
    const timely = plan.blockDelay ? null : proposal;
    if (timely) this.#buildAhead(timely);
    let voters: ReadonlySet<ValidatorIndex> = new Set();
    const slotVotes = await failures.attempt("attestation data", slot, async () => {
      const target = timely ? targetOf(timely.block) : await this.#target(slot, headRoot);
      const prepared = await this.#prepareVotes(slot, target, plan);
      // Signatures leave this process only after the slashing protection is stored. The block is stored first, and the
      // next block includes the votes.
      if (timely) {
        timely.signature.signAhead();
        voters = this.#payloads.recordVoters(slot, timely.block.postState, plan);
        if (this.#payloads.revealsAtOnce(timely.plan)) this.#payloads.signAhead(timely.block);
      }
      for (const { votes, syncVotes } of prepared) {
        signAhead([...votes, ...syncVotes.map(({ contribution }) => contribution)].map(({ signature }) => signature));
      }
      if (proposal) this.#revealRandaoAhead(proposal.block.postState, slot + 2, plan);
      return prepared;
    });
    const publish = (signed: Proposal) => failures.attempt(PROPOSE, slot, () => this.#import(signed));
    if (timely && !(await publish(timely))) return;
    await failures.attempt("voting", slot, async () => {
      await history.flush();
      for (const { votes, syncVotes } of slotVotes ?? []) {
        this.#attest(slot, votes);
        for (const { contribution, members } of syncVotes) chain.processor.ownContribution(contribution, members);
      }
    });
    if (timely) {
      // Time may pass meanwhile: the end of an epoch is prepared at a time within its last slot.
      const arrivedAt = chain.clock.slotStartSeconds(slot);
      await this.#payloads.reveal(timely.block, timely.plan, { arrivedAt });
      await this.#payloads.vote(slot, { ...targetOf(timely.block), voters }, plan);
    }
    if (proposal && plan.blockDelay) {
      late.hold(slot, plan.blockDelay, async () => {
        if (await publish(proposal)) await this.#payloads.reveal(proposal.block, proposal.plan);
      });
    }
  }

  /**
   * Produces and signs the slot's block for the duties of a slot that follows the clock. Returns null if the proposer is
   * not ours, offline or slashed.
   */
  async propose(slot: Slot, plan: DutyPlan): Promise<DirectProposal | null> {
    await this.#modules.chain.refreshHead();
    const proposal = await this.#propose(slot, plan);
    return (
      proposal && {
        validatorIndex: proposal.block.block.proposerIndex,
        publish: () => this.#import(proposal),
        reveal: () => this.#payloads.reveal(proposal.block, proposal.plan),
      }
    );
  }

  /** Lets the payload timeliness committee vote on the payload of the slot's block, if there is one. */
  async votePayload(slot: Slot, plan: DutyPlan): Promise<void> {
    const { chain } = this.#modules;
    const block = chain.head.slot === slot ? chain.head : chain.forkChoice.blocksAtSlot(slot)[0];
    if (!block) return;
    const { root } = block;
    const state = await chain.states.afterBlock(root);
    await this.#payloads.vote(slot, { root, state, voters: this.#payloads.recordVoters(slot, state, plan) }, plan);
  }

  /**
   * Produces the slot's block and records it as signed. Returns null if the proposer is not ours, offline or slashed.
   */
  async #propose(slot: Slot, plan: DutyPlan): Promise<Proposal | null> {
    const { chain, signer, history, failures, builderBids } = this.#modules;
    const parent: ProposalParent =
      plan.parentRoot === undefined ? chain.proposerHead.parentFor(slot) : { root: plan.parentRoot };
    const { root: parentRoot, payloadStatus } = parent;
    if (slot === GENESIS_SLOT) return null;
    const { epochCtx, validators } = await chain.states.afterBlock(parentRoot, slot);
    const proposer = epochCtx.getBeaconProposer(slot);
    if (!this.#acts(plan, proposer)) return null;
    // A block by a slashed proposer is invalid (phase0/beacon-chain.md, process_block_header).
    if (validators.getReadonly(proposer).slashed) return null;
    const randaoReveal = signer.randaoReveal(proposer, slot);
    const parentPayload = payloadStatus === "pending" ? undefined : payloadStatus;
    const alterPayload = plan.payload === "invalid" ? invalidPayload : undefined;
    const request = blockRequest(chain, proposer, { slot, parentRoot, parentPayload, randaoReveal, alterPayload });
    if (builderBids) await failures.attempt("bids of builders", slot, () => builderBids.submit(request));
    const produced = await chain.producer.produce(request);
    const offered = builderBids?.settle(produced);
    const block = offered ? withPayload(produced, offered) : produced;
    history.recordProposal(proposer, slot);
    if (block.envelope) history.recordEnvelope(proposer, slot);
    const signingRoot = signer.signingRoot(ssz.Root, fromHex(block.root), DOMAIN_BEACON_PROPOSER, slot);
    const payloadPlan: DutyPlan = offered?.isWithheld ? { ...plan, payload: "withhold" } : plan;
    return { block, signature: signer.signLazily(proposer, signingRoot), plan: payloadPlan };
  }

  /** Starts building the payload for the next slot. */
  #buildAhead({ block, plan }: Proposal): void {
    const { preparations, clock, producer } = this.#modules.chain;
    const { currentEpoch } = clock;
    producer.buildAhead(
      block,
      (proposer) => preparations.feeRecipientOrDefault(proposer, currentEpoch, { warns: false }),
      { isRevealed: this.#payloads.revealsAtOnce(plan) },
    );
  }

  /** Imports the block. Stores the slashing protection in the same database write. */
  async #import({ block, signature, plan }: Proposal): Promise<true> {
    const { chain, history } = this.#modules;
    const { blobsBundle: _, ...withoutBlobs } = block;
    const published = !block.envelope || this.#payloads.publishesBlobs(plan) ? block : withoutBlobs;
    await chain.importOwnBlock(published, signature, (batch) => history.flushInto(batch));
    return true;
  }

  async #target(slot: Slot, root: RootHex): Promise<VoteTarget> {
    return { root, state: await stateToAttestOn(this.#modules.chain.states, { slot, blockRoot: root }) };
  }

  /** Prepares the votes for the slot and records them as signed. */
  async #prepareVotes(slot: Slot, target: VoteTarget, plan: DutyPlan): Promise<TargetVotes[]> {
    const { splitVote } = plan;
    const acts = (voter: ValidatorIndex) => this.#acts(plan, voter);
    if (!splitVote) return [this.#votesOf(slot, target, acts)];
    const other = await this.#target(slot, splitVote.root);
    return [
      this.#votesOf(slot, target, (voter) => acts(voter) && !splitVote.includes(voter)),
      this.#votesOf(slot, other, (voter) => acts(voter) && splitVote.includes(voter)),
    ];
  }

  #votesOf(slot: Slot, target: VoteTarget, isVoter: IsVoter): TargetVotes {
    return { votes: this.#votesFor(target, slot, isVoter), syncVotes: this.#syncVotesFor(target, slot, isVoter) };
  }

  #votesFor({ root: blockRoot, state }: VoteTarget, slot: Slot, isVoter: IsVoter): CommitteeVote[] {
    const { chain, signer, history } = this.#modules;
    const committees = state.epochCtx.getShufflingAtSlot(slot).committees[slot % SLOTS_PER_EPOCH]!;
    return committees.flatMap((committee, committeeIndex) => {
      const data = attestationDataOn(state, {
        slot,
        blockRoot,
        index: attestationIndex(chain, { slot, blockRoot, committeeIndex }),
      });
      const maySign = (member: ValidatorIndex) => isVoter(member) && history.recordAttestation(member, data);
      const { bits, members } = filterCommittee(committee, maySign);
      if (members.length === 0) return [];
      const signature = signer.signAggregate(members, signer.attestationRoot(data));
      return [{ committeeIndex, committee, data, bits, attestingIndices: members, signature }];
    });
  }

  #attest(slot: Slot, votes: readonly CommitteeVote[]): void {
    const { chain } = this.#modules;
    const fork = chain.config.getForkName(slot);
    for (const vote of votes) {
      const dataRoot = toRootHex(ssz.phase0.AttestationData.hashTreeRoot(vote.data));
      chain.processor.ownAttestation({ ...vote, fork, dataRoot });
    }
  }

  /** altair/validator.md, Sync committee messages: a member signs once for each of its seats. */
  #syncVotesFor({ root, state }: VoteTarget, slot: Slot, isVoter: IsVoter): SubcommitteeVote[] {
    const { chain, signer } = this.#modules;
    if (chain.config.getForkSeq(slot) < ForkSeq.altair) return [];
    const beaconBlockRoot = fromHex(root);
    const signingRoot = signer.syncMessageRoot(beaconBlockRoot, slot);
    // The next slot's block includes the signatures (altair/validator.md).
    const committee = state.epochCtx.getIndexedSyncCommittee(slot);
    const votes: SubcommitteeVote[] = [];
    for (let subcommitteeIndex = 0; subcommitteeIndex < SYNC_COMMITTEE_SUBNET_COUNT; subcommitteeIndex++) {
      const seats = subcommitteeMembers(committee, subcommitteeIndex);
      const { bits: aggregationBits, members } = filterCommittee(seats, isVoter);
      if (members.length === 0) continue;
      const signature = signer.signAggregate(members, signingRoot);
      votes.push({ contribution: { slot, beaconBlockRoot, subcommitteeIndex, aggregationBits, signature }, members });
    }
    return votes;
  }

  #revealRandaoAhead({ epochCtx }: CachedBeaconStateAllForks, slot: Slot, plan: DutyPlan): void {
    const proposer = epochCtx.getBeaconProposer(slot);
    if (this.#acts(plan, proposer)) this.#modules.signer.revealRandaoAhead(proposer, slot);
  }

  #acts(plan: DutyPlan, index: ValidatorIndex): boolean {
    return this.#modules.signer.owns(index) && isOnline(plan, index);
  }
}

/** Adds the payload that a builder will reveal for a block. */
const withPayload = (
  { blobsBundle: _, ...block }: ProducedFullBlock,
  { envelope, blobsBundle }: BuilderPayload,
): ProducedFullBlock => ({ ...block, envelope, ...(blobsBundle && { blobsBundle }) });

const targetOf = ({ root, postState }: ProducedFullBlock): VoteTarget => ({ root, state: postState });

function filterCommittee(committee: ArrayLike<ValidatorIndex>, isChosen: (member: ValidatorIndex) => boolean) {
  const bits = BitArray.fromBitLen(committee.length);
  const members = Array.from(committee).filter((member, position) => {
    const chosen = isChosen(member);
    if (chosen) bits.set(position, true);
    return chosen;
  });
  return { bits, members };
}
