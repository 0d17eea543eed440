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
import type { ValidatorSigner } from "./signer.ts";
import type { SlashingProtection } from "./slashing-protection.ts";

interface LockstepModules {
  chain: BeaconChain;
  signer: ValidatorSigner;
  history: SlashingProtection;
  failures: FailedDuties;
}

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
    const { chain, history, failures } = this.#modules;
    await chain.refreshHead();
    const block = await failures.attempt(PROPOSE, slot, () => this.#produce(slot, plan));
    if (block === null) failures.unsettled(PROPOSE, slot);
    const votedRoot = plan.votedRoot ?? block?.root ?? plan.parentRoot ?? chain.head.root;
    const voting = await failures.attempt("learn what to attest to", slot, async () => {
      const isOfBlock = block && votedRoot === block.root;
      const state = isOfBlock ? block.postState : await stateToAttestOn(chain.states, { slot, blockRoot: votedRoot });
      const votes = this.#votesOn(state, slot, votedRoot, plan);
      const syncVotes = this.#syncVotesOn(state, slot, votedRoot, plan);
      // The next block will hold them. They do not leave this process before what was noted of them is stored.
      signAhead([...votes, ...syncVotes.map(({ contribution }) => contribution)].map(({ signature }) => signature));
      if (block) this.#revealAhead(block.postState, slot + 2, plan);
      return { votes, syncVotes };
    });
    if (block && !(await failures.attempt(PROPOSE, slot, () => this.#publish(block)))) return;
    if (!voting) return;
    await failures.attempt("vote", slot, async () => {
      await history.keep();
      this.#attest(slot, voting.votes);
      for (const { contribution, members } of voting.syncVotes) chain.processor.ownContribution(contribution, members);
    });
  }

  /** The block of the slot, noted as signed; null when it is not the turn of one of ours who is online. */
  async #produce(slot: Slot, plan: DutyPlan): Promise<ProducedFullBlock | null> {
    const { chain, signer, history } = this.#modules;
    // Nobody proposes the genesis block.
    if (slot === GENESIS_SLOT) return null;
    const parentRoot = plan.parentRoot ?? chain.head.root;
    const { epochCtx, validators } = await chain.states.afterBlock(parentRoot, slot);
    const proposer = epochCtx.getBeaconProposer(slot);
    if (!this.#acts(plan, proposer)) return null;
    if (validators.getReadonly(proposer).slashed) {
      throw new Error(`Slot ${slot} can have no block: its proposer, validator ${proposer}, is slashed.`);
    }
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

  /** What the committees of the slot may sign; it is noted as signed. */
  #votesOn(state: CachedBeaconStateAllForks, slot: Slot, blockRoot: RootHex, plan: DutyPlan): CommitteeVote[] {
    const { chain, signer, history } = this.#modules;
    // electra/validator.md, Construct attestation: the index moved out of the data, which then names committee 0.
    const namesCommittee = chain.config.getForkSeq(slot) < ForkSeq.electra;
    const committees = state.epochCtx.getShufflingAtSlot(slot).committees[slot % SLOTS_PER_EPOCH]!;
    return committees.flatMap((committee, committeeIndex) => {
      const data = attestationDataOn(state, { slot, blockRoot, committeeIndex: namesCommittee ? committeeIndex : 0 });
      const maySign = (member: ValidatorIndex) => this.#acts(plan, member) && history.mayAttest(member, data);
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
  #syncVotesOn(
    { epochCtx }: CachedBeaconStateAllForks,
    slot: Slot,
    blockRoot: RootHex,
    plan: DutyPlan,
  ): SubcommitteeVote[] {
    const { chain, signer } = this.#modules;
    if (chain.config.getForkSeq(slot) < ForkSeq.altair) return [];
    const beaconBlockRoot = fromHex(blockRoot);
    const signingRoot = signer.signingRoot(ssz.Root, beaconBlockRoot, DOMAIN_SYNC_COMMITTEE, slot);
    // Its signatures go into the block of the next slot (altair/validator.md).
    const committee = epochCtx.getIndexedSyncCommittee(slot);
    const votes: SubcommitteeVote[] = [];
    for (let subcommitteeIndex = 0; subcommitteeIndex < SYNC_COMMITTEE_SUBNET_COUNT; subcommitteeIndex++) {
      const seats = subcommitteeMembers(committee, subcommitteeIndex);
      const { bits: aggregationBits, members } = chosenFrom(seats, (member) => this.#acts(plan, member));
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

function chosenFrom(committee: ArrayLike<ValidatorIndex>, isChosen: (member: ValidatorIndex) => boolean) {
  const bits = BitArray.fromBitLen(committee.length);
  const members = Array.from(committee).filter((member, position) => {
    const chosen = isChosen(member);
    if (chosen) bits.set(position, true);
    return chosen;
  });
  return { bits, members };
}
