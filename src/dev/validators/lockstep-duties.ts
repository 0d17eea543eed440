import { BitArray } from "@chainsafe/ssz";
import {
  DOMAIN_BEACON_ATTESTER,
  DOMAIN_BEACON_PROPOSER,
  DOMAIN_SYNC_COMMITTEE,
  ForkSeq,
  GENESIS_SLOT,
  SLOTS_PER_EPOCH,
  SYNC_COMMITTEE_SUBNET_COUNT,
} from "@lodestar/params";
import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import { type altair, type phase0, type RootHex, type Slot, ssz, type ValidatorIndex } from "@lodestar/types";
import { fromHex, toRootHex } from "@lodestar/utils";
import type { BeaconChain } from "../../chain/chain.ts";
import { signAhead } from "../../chain/pools/pooled-signature.ts";
import { attestationDataOn, stateToAttestOn } from "../../chain/production/attestation-data.ts";
import type { ProducedFullBlock } from "../../chain/production/block-producer.ts";
import { blockRequest } from "../../chain/production/block-request.ts";
import { subcommitteeMembers } from "../../chain/validation/sync-committee-at.ts";
import { type DutyPlan, isOnline } from "./duty-plan.ts";
import { type FailedDuties, PROPOSE } from "./failed-duties.ts";
import type { JointSignature } from "./joint-signature.ts";
import type { LateBlocks } from "./late-blocks.ts";
import type { ValidatorSigner } from "./signer.ts";
import type { SlashingProtection } from "./slashing-protection.ts";

interface LockstepModules {
  chain: BeaconChain;
  signer: ValidatorSigner;
  history: SlashingProtection;
  failures: FailedDuties;
  late: LateBlocks;
}

/** A block that can be voted for in a slot. */
interface VoteTarget {
  root: RootHex;
  /** As `stateToAttestOn` gives it. */
  state: CachedBeaconStateAllForks;
}

/** What some are to sign for the block of their choice. */
interface Ballot {
  votes: CommitteeVote[];
  syncVotes: SubcommitteeVote[];
}

type IsVoter = (voter: ValidatorIndex) => boolean;

/** What members of a committee of attesters are about to sign. */
interface CommitteeVote {
  committeeIndex: number;
  committee: Uint32Array;
  data: phase0.AttestationData;
  bits: BitArray;
  attestingIndices: ValidatorIndex[];
  signature: JointSignature;
}

/** What members of a sync subcommittee are about to sign. */
interface SubcommitteeVote {
  contribution: Omit<altair.SyncCommitteeContribution, "signature"> & { signature: JointSignature };
  members: ValidatorIndex[];
}

/**
 * The duties of a slot where nobody but the chain of this process needs what is signed. Blocks and votes are those that the
 * validators would make as clients of the API, and they sign them. But the chain takes from them what it would otherwise
 * work out and verify a second time: the state after a block that it has produced itself; and votes, which are signed when a
 * block takes them up, all of a kind at once.
 */
export class LockstepDuties {
  readonly #modules: LockstepModules;

  constructor(modules: LockstepModules) {
    this.#modules = modules;
  }

  /** Never rejects because of a duty that failed. */
  async act(slot: Slot, plan: DutyPlan): Promise<void> {
    const { chain, history, failures, late } = this.#modules;
    await chain.refreshHead();
    const headRoot = plan.parentRoot ?? chain.head.root;
    const parentRoot = plan.parentRoot ?? chain.proposerHead.parentFor(slot).root;
    const block = await failures.attempt(PROPOSE, slot, () => this.#produce(slot, parentRoot, plan));
    if (block === null) failures.unsettled(PROPOSE, slot);
    const timelyBlock = plan.lateness ? null : block;
    const ballots = await failures.attempt("learn what to attest to", slot, async () => {
      const usual = timelyBlock ? voteTargetOf(timelyBlock) : await this.#choice(slot, headRoot);
      const cast = await this.#ballots(slot, usual, plan);
      // The next block will hold them. They do not leave this process before what was noted of them is stored.
      for (const { votes, syncVotes } of cast) {
        signAhead([...votes, ...syncVotes.map(({ contribution }) => contribution)].map(({ signature }) => signature));
      }
      if (block) this.#revealAhead(block.postState, slot + 2, plan);
      return cast;
    });
    const publish = (produced: ProducedFullBlock) => failures.attempt(PROPOSE, slot, () => this.#publish(produced));
    if (timelyBlock && !(await publish(timelyBlock))) return;
    await failures.attempt("vote", slot, async () => {
      await history.keep();
      for (const { votes, syncVotes } of ballots ?? []) {
        this.#attest(slot, votes);
        for (const { contribution, members } of syncVotes) chain.processor.ownContribution(contribution, members);
      }
    });
    if (block && plan.lateness) {
      late.hold(slot, plan.lateness, async () => {
        await publish(block);
      });
    }
  }

  /** The block of the slot, noted as signed; null when it is not the turn of one of ours who is online and may propose. */
  async #produce(slot: Slot, parentRoot: RootHex, plan: DutyPlan): Promise<ProducedFullBlock | null> {
    const { chain, signer, history } = this.#modules;
    // Nobody proposes the genesis block.
    if (slot === GENESIS_SLOT) return null;
    const { epochCtx, validators } = await chain.states.afterBlock(parentRoot, slot);
    const proposer = epochCtx.getBeaconProposer(slot);
    if (!this.#acts(plan, proposer)) return null;
    // The block of a proposer that is slashed would not be valid (phase0/beacon-chain.md, process_block_header).
    if (validators.getReadonly(proposer).slashed) return null;
    const randaoReveal = signer.randaoReveal(proposer, slot);
    const request = blockRequest(chain, proposer, { slot, parentRoot, randaoReveal });
    const produced = await chain.producer.produce(request);
    history.noteProposal(proposer, slot);
    return produced;
  }

  /** What was noted of the block and of the votes for it is stored together with the block. */
  async #publish(produced: ProducedFullBlock): Promise<true> {
    const { chain, signer, history } = this.#modules;
    const { slot, proposerIndex } = produced.block;
    const signingRoot = signer.signingRoot(ssz.Root, fromHex(produced.root), DOMAIN_BEACON_PROPOSER, slot);
    const signature = signer.sign(proposerIndex, signingRoot);
    await chain.importOwnBlock(produced, signature, (batch) => history.keepIn(batch));
    return true;
  }

  async #choice(slot: Slot, root: RootHex): Promise<VoteTarget> {
    return { root, state: await stateToAttestOn(this.#modules.chain.states, { slot, blockRoot: root }) };
  }

  /** What is to be signed in the slot; it is noted as signed. */
  async #ballots(slot: Slot, usual: VoteTarget, plan: DutyPlan): Promise<Ballot[]> {
    const { dissent } = plan;
    const acts = (voter: ValidatorIndex) => this.#acts(plan, voter);
    if (!dissent) return [this.#ballot(slot, usual, acts)];
    const other = await this.#choice(slot, dissent.root);
    return [
      this.#ballot(slot, usual, (voter) => acts(voter) && !dissent.isBy(voter)),
      this.#ballot(slot, other, (voter) => acts(voter) && dissent.isBy(voter)),
    ];
  }

  #ballot(slot: Slot, choice: VoteTarget, isBy: IsVoter): Ballot {
    return { votes: this.#votesFor(choice, slot, isBy), syncVotes: this.#syncVotesFor(choice, slot, isBy) };
  }

  #votesFor({ root: blockRoot, state }: VoteTarget, slot: Slot, isBy: IsVoter): CommitteeVote[] {
    const { chain, signer, history } = this.#modules;
    // electra/validator.md, Construct attestation: the index moved out of the data, which then names committee 0.
    const namesCommittee = chain.config.getForkSeq(slot) < ForkSeq.electra;
    const committees = state.epochCtx.getShufflingAtSlot(slot).committees[slot % SLOTS_PER_EPOCH]!;
    return committees.flatMap((committee, committeeIndex) => {
      const data = attestationDataOn(state, { slot, blockRoot, committeeIndex: namesCommittee ? committeeIndex : 0 });
      const maySign = (member: ValidatorIndex) => isBy(member) && history.mayAttest(member, data);
      const { bits, members } = chosenFrom(committee, maySign);
      if (members.length === 0) return [];
      const signingRoot = signer.signingRoot(ssz.phase0.AttestationData, data, DOMAIN_BEACON_ATTESTER, slot);
      const signature = signer.signJointly(members, signingRoot);
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
  #syncVotesFor({ root, state }: VoteTarget, slot: Slot, isBy: IsVoter): SubcommitteeVote[] {
    const { chain, signer } = this.#modules;
    if (chain.config.getForkSeq(slot) < ForkSeq.altair) return [];
    const beaconBlockRoot = fromHex(root);
    const signingRoot = signer.signingRoot(ssz.Root, beaconBlockRoot, DOMAIN_SYNC_COMMITTEE, slot);
    // Its signatures go into the block of the next slot (altair/validator.md).
    const committee = state.epochCtx.getIndexedSyncCommittee(slot);
    const votes: SubcommitteeVote[] = [];
    for (let subcommitteeIndex = 0; subcommitteeIndex < SYNC_COMMITTEE_SUBNET_COUNT; subcommitteeIndex++) {
      const seats = subcommitteeMembers(committee, subcommitteeIndex);
      const { bits: aggregationBits, members } = chosenFrom(seats, isBy);
      if (members.length === 0) continue;
      const signature = signer.signJointly(members, signingRoot);
      votes.push({ contribution: { slot, beaconBlockRoot, subcommitteeIndex, aggregationBits, signature }, members });
    }
    return votes;
  }

  #revealAhead({ epochCtx }: CachedBeaconStateAllForks, slot: Slot, plan: DutyPlan): void {
    const proposer = epochCtx.getBeaconProposer(slot);
    if (this.#acts(plan, proposer)) this.#modules.signer.revealAhead(proposer, slot);
  }

  #acts(plan: DutyPlan, index: ValidatorIndex): boolean {
    return this.#modules.signer.owns(index) && isOnline(plan, index);
  }
}

const voteTargetOf = ({ root, postState }: ProducedFullBlock): VoteTarget => ({ root, state: postState });

function chosenFrom(committee: ArrayLike<ValidatorIndex>, isChosen: (member: ValidatorIndex) => boolean) {
  const bits = BitArray.fromBitLen(committee.length);
  const members = Array.from(committee).filter((member, position) => {
    const chosen = isChosen(member);
    if (chosen) bits.set(position, true);
    return chosen;
  });
  return { bits, members };
}
