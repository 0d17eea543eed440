import { BitArray } from "@chainsafe/ssz";
import { ForkSeq } from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  getExecutionPayloadEnvelopeSigningRoot,
  getPayloadAttestationDataSigningRoot,
} from "@lodestar/state-transition";
import type { gloas, Slot, ValidatorIndex } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import type { BeaconChain } from "../../../chain/chain.ts";
import { signAhead } from "../../../chain/pools/pooled-signature.ts";
import type { ProducedFullBlock } from "../../../chain/production/block-producer.ts";
import type { DutyFailures } from "../duty-failures.ts";
import { type DutyPlan, isOnline, type PayloadVote } from "../duty-plan.ts";
import type { SlotSchedule } from "../duty-timing.ts";
import type { LateBlocks } from "../late-blocks.ts";
import type { LazyAggregateSignature } from "../lazy-aggregate-signature.ts";
import type { ValidatorSigner } from "../signer.ts";
import type { SlashingProtection } from "../slashing-protection.ts";

export const REVEAL = "payload";
const VOTE = "payload attestation";

interface LockstepPayloadsParts {
  chain: BeaconChain;
  signer: ValidatorSigner;
  history: SlashingProtection;
  failures: DutyFailures;
  late: LateBlocks;
  schedule: Pick<SlotSchedule, "payloadAttestationDue">;
}

/** Votes of our committee members for the same data. */
interface PayloadVotes {
  data: gloas.PayloadAttestationData;
  bits: BitArray;
  signature: LazyAggregateSignature;
}

/** Lockstep duties since gloas: reveals the payloads of our blocks, and votes in the payload timeliness committees. */
export class LockstepPayloads {
  readonly #parts: LockstepPayloadsParts;

  constructor(parts: LockstepPayloadsParts) {
    this.#parts = parts;
  }

  /** True if the payload of the slot's block is revealed right after the block. */
  revealsAtOnce({ payload = "full" }: DutyPlan): boolean {
    return payload === "full";
  }

  /** Reveals the payload of a block that was imported, according to the plan. */
  async reveal({ block, envelope }: ProducedFullBlock, { payload = "full" }: DutyPlan): Promise<void> {
    const { history, late } = this.#parts;
    const { slot, proposerIndex } = block;
    if (!envelope || payload === "withhold") return;
    if (!history.recordEnvelope(proposerIndex, slot)) return;
    const publish = () => this.#publish(slot, proposerIndex, envelope);
    if (payload === "full") await publish();
    else late.hold(slot, payload, publish);
  }

  /** Lets the committee vote on the payload of the slot's block. The votes go into the next block. */
  async vote(
    slot: Slot,
    { root, state }: { root: string; state: CachedBeaconStateAllForks },
    plan: DutyPlan,
  ): Promise<void> {
    const { chain, late, failures, history, schedule } = this.#parts;
    if (chain.config.getForkSeq(slot) < ForkSeq.gloas) return;
    await late.publishBefore(schedule.payloadAttestationDue(slot));
    await failures.attempt(VOTE, slot, async () => {
      const signed = await chain.blocks.signedByRoot(root);
      // A committee member that has not seen a block for its slot does not vote.
      if (signed?.message.slot !== slot) return;
      const votes = this.#votesOf(slot, root, state, chain.payloadAttestationVote({ signed, root }), plan);
      await history.flush();
      signAhead(votes.map(({ signature }) => signature));
      for (const vote of votes) chain.processor.ownPayloadAttestation(vote);
    });
  }

  async #publish(slot: Slot, proposer: ValidatorIndex, message: gloas.ExecutionPayloadEnvelope): Promise<void> {
    const { chain, signer, history, failures } = this.#parts;
    await failures.attempt(REVEAL, slot, async () => {
      await history.flush();
      const signature = signer.sign(proposer, getExecutionPayloadEnvelopeSigningRoot(chain.config, message));
      await chain.importOwnPayload({ message, signature });
    });
  }

  /** Groups the members by what they vote for. A member signs once for each of its positions. */
  #votesOf(
    slot: Slot,
    root: string,
    state: CachedBeaconStateAllForks,
    honest: PayloadVote,
    plan: DutyPlan,
  ): PayloadVotes[] {
    const { chain, signer, history } = this.#parts;
    const committee = state.epochCtx.getPayloadTimelinessCommittee(slot);
    const votesByMember = new Map<ValidatorIndex, PayloadVote | null>();
    const voteOf = (member: ValidatorIndex) => {
      if (!signer.owns(member) || !isOnline(plan, member)) return null;
      const vote = plan.payloadVote ? plan.payloadVote(member, honest) : honest;
      return vote && history.recordPayloadVote(member, slot) ? vote : null;
    };
    const groups = new Map<string, { vote: PayloadVote; positions: number[]; members: ValidatorIndex[] }>();
    for (let position = 0; position < committee.length; position++) {
      const member = committee[position]!;
      if (!votesByMember.has(member)) votesByMember.set(member, voteOf(member));
      const vote = votesByMember.get(member);
      if (!vote) continue;
      const key = `${vote.payloadPresent}/${vote.blobDataAvailable}`;
      const group = groups.get(key) ?? { vote, positions: [], members: [] };
      groups.set(key, group);
      group.positions.push(position);
      group.members.push(member);
    }
    return Array.from(groups.values(), ({ vote, positions, members }) => {
      const { payloadPresent, blobDataAvailable } = vote;
      const data = { beaconBlockRoot: fromHex(root), slot, payloadPresent, blobDataAvailable };
      const bits = BitArray.fromBitLen(committee.length);
      for (const position of positions) bits.set(position, true);
      const signature = signer.signAggregate(members, getPayloadAttestationDataSigningRoot(chain.config, data));
      return { data, bits, signature };
    });
  }
}
