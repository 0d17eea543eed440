import { BitArray } from "@chainsafe/ssz";
import { BUILDER_INDEX_SELF_BUILD, ForkSeq } from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  getExecutionPayloadEnvelopeSigningRoot,
  getPayloadAttestationDataSigningRoot,
} from "@lodestar/state-transition";
import type { gloas, RootHex, Slot, ValidatorIndex } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import { lazilySigned } from "../../../chain/blocks/lazily-signed.ts";
import type { BeaconChain } from "../../../chain/chain.ts";
import { BlockRejection, type RejectionReason } from "../../../chain/import/block-rejection.ts";
import { signAhead } from "../../../chain/pools/pooled-signature.ts";
import type { ProducedFullBlock } from "../../../chain/production/block-producer.ts";
import type { BidsOfSlot } from "../../builders/slot-bids.ts";
import type { DutyFailures } from "../duty-failures.ts";
import { type DutyPlan, isOnline, type PayloadVote } from "../duty-plan.ts";
import type { SlotSchedule } from "../duty-timing.ts";
import type { LateBlocks } from "../late-blocks.ts";
import type { LazyAggregateSignature } from "../lazy-aggregate-signature.ts";
import type { ValidatorSigner } from "../signer.ts";
import type { SlashingProtection } from "../slashing-protection.ts";
import { differentEnvelope } from "./false-payloads.ts";
import type { WithheldPayloads } from "./withheld-payloads.ts";

export const REVEAL = "payload";
const VOTE = "payload attestation";

interface LockstepPayloadsParts {
  chain: BeaconChain;
  signer: ValidatorSigner;
  history: SlashingProtection;
  failures: DutyFailures;
  late: LateBlocks;
  withheld: WithheldPayloads;
  builderBids?: BidsOfSlot | undefined;
  schedule: Pick<SlotSchedule, "payloadAttestationDue">;
}

/** What a committee votes on: a block with its post-state; and which of our members vote. */
interface PayloadVoteTarget {
  root: RootHex;
  state: CachedBeaconStateAllForks;
  voters: ReadonlySet<ValidatorIndex>;
}

/** Votes of our committee members for the same data. */
interface PayloadVotes {
  data: gloas.PayloadAttestationData;
  bits: BitArray;
  members: readonly ValidatorIndex[];
  signature: LazyAggregateSignature;
}

/** Lockstep duties since gloas: reveals the payloads of our blocks, and votes in the payload timeliness committees. */
export class LockstepPayloads {
  readonly #parts: LockstepPayloadsParts;
  /** Signatures of proposers, made ahead of time. */
  readonly #signatures = new WeakMap<gloas.ExecutionPayloadEnvelope, LazyAggregateSignature>();

  constructor(parts: LockstepPayloadsParts) {
    this.#parts = parts;
  }

  /** True if the payload of the slot's block is revealed right after the block. */
  revealsAtOnce({ payload = "full" }: DutyPlan): boolean {
    return payload === "full";
  }

  /** True if the blobs of the slot's block are published with the block. Others are published with the payload. */
  publishesBlobs({ payload = "full" }: DutyPlan): boolean {
    return typeof payload === "string" && payload !== "withhold" && payload !== "without-blobs";
  }

  /** Signs the envelope of a block ahead of time. */
  signAhead({ block: { proposerIndex }, envelope }: ProducedFullBlock): void {
    if (envelope && !this.#isOfBuilder(envelope)) this.#signatureOf(proposerIndex, envelope).signAhead();
  }

  /** Reveals the payload of a block that was imported, according to the plan. Its envelope is recorded as signed. */
  async reveal(
    produced: ProducedFullBlock,
    { payload = "full" }: DutyPlan,
    arrival?: { arrivedAt: number },
  ): Promise<void> {
    const { late, withheld, failures } = this.#parts;
    const { block, root, envelope, blobsBundle } = produced;
    const { slot, proposerIndex } = block;
    if (!envelope) return;
    const publish = async () => {
      await this.#publishBlobs(produced);
      await this.#publish(proposerIndex, envelope);
    };
    const attempt = async (work: () => Promise<void>) => {
      await failures.attempt(REVEAL, slot, work);
    };
    const hasBlobs = blobsBundle !== undefined && blobsBundle.blobs.length > 0;
    if (payload === "full" || (payload === "without-blobs" && !hasBlobs)) {
      await attempt(() => this.#publish(proposerIndex, envelope, arrival));
    } else if (payload === "equivocation") {
      await attempt(() => this.#publishFaulty(proposerIndex, differentEnvelope(envelope)));
      await attempt(() => this.#publish(proposerIndex, envelope, arrival));
    } else if (payload === "invalid") {
      await attempt(() => this.#publishFaulty(proposerIndex, envelope, "invalid-payload"));
    } else if (typeof payload === "object") {
      late.hold(slot, payload, () => attempt(publish));
    } else {
      withheld.add(root, publish);
      if (payload === "different") await attempt(() => this.#publishFaulty(proposerIndex, differentEnvelope(envelope)));
      if (payload === "without-blobs") {
        await attempt(() => this.#publishFaulty(proposerIndex, envelope, "data-unavailable"));
      }
    }
  }

  /**
   * Returns our members of the slot's committee that are online, and records them as having signed a vote, whatever they
   * vote for later.
   */
  recordVoters(slot: Slot, { epochCtx }: CachedBeaconStateAllForks, plan: DutyPlan): Set<ValidatorIndex> {
    const { chain, signer, history } = this.#parts;
    if (chain.config.getForkSeq(slot) < ForkSeq.gloas) return new Set();
    const members = new Set(epochCtx.getPayloadTimelinessCommittee(slot));
    const mayVote = (member: ValidatorIndex) =>
      signer.owns(member) && isOnline(plan, member) && history.recordPayloadVote(member, slot);
    return new Set([...members].filter(mayVote));
  }

  /** Lets members of the committee vote on the payload of the slot's block. The votes go into the next block. */
  async vote(slot: Slot, { root, state, voters }: PayloadVoteTarget, plan: DutyPlan): Promise<void> {
    const { chain, late, failures, history, schedule } = this.#parts;
    if (chain.config.getForkSeq(slot) < ForkSeq.gloas) return;
    await late.publishBefore(schedule.payloadAttestationDue(slot));
    await failures.attempt(VOTE, slot, async () => {
      const signed = await chain.blocks.signedByRoot(root);
      // A committee member that has not seen a block for its slot does not vote.
      if (signed?.message.slot !== slot) return;
      const votes = this.#votesOf(slot, { root, state, voters }, chain.payloadAttestationVote({ signed, root }), plan);
      await history.flush();
      signAhead(votes.map(({ signature }) => signature));
      for (const vote of votes) chain.processor.ownPayloadAttestation(vote);
      if (chain.events.hasListeners("payloadAttestationsCreated")) this.#broadcast(votes);
    });
  }

  /** Other nodes take the vote of each member alone. */
  #broadcast(votes: readonly PayloadVotes[]): void {
    const { chain, signer } = this.#parts;
    const messages = votes.flatMap(({ data, members }) => {
      const signingRoot = getPayloadAttestationDataSigningRoot(chain.config, data);
      return Array.from(new Set(members), (validatorIndex) => ({
        validatorIndex,
        data,
        signature: signer.sign(validatorIndex, signingRoot),
      }));
    });
    for (const { data, validatorIndex } of messages) chain.pools.seen.payloads.addVote(data.slot, validatorIndex);
    chain.events.publish("payloadAttestationsCreated", { messages });
  }

  async #publish(
    proposer: ValidatorIndex,
    message: gloas.ExecutionPayloadEnvelope,
    arrival?: { arrivedAt: number },
  ): Promise<void> {
    await this.#parts.chain.importOwnPayload(await this.#sign(proposer, message), arrival);
  }

  /** Publishes an envelope that the chain must not import, for the given reason. */
  async #publishFaulty(
    proposer: ValidatorIndex,
    message: gloas.ExecutionPayloadEnvelope,
    reason: RejectionReason = "invalid-envelope",
  ): Promise<void> {
    const signed = await this.#sign(proposer, message);
    try {
      await this.#parts.chain.importPayload(signed, { waitsForData: false });
    } catch (error) {
      if (error instanceof BlockRejection && error.reason === reason) return;
      throw error;
    }
    throw new Error("A payload was imported that must be rejected.");
  }

  async #sign(
    proposer: ValidatorIndex,
    message: gloas.ExecutionPayloadEnvelope,
  ): Promise<gloas.SignedExecutionPayloadEnvelope> {
    const { history, builderBids } = this.#parts;
    await history.flush();
    if (builderBids && this.#isOfBuilder(message)) return { message, signature: builderBids.sign(message) };
    return lazilySigned(message, this.#signatureOf(proposer, message));
  }

  #isOfBuilder({ builderIndex }: gloas.ExecutionPayloadEnvelope): boolean {
    return builderIndex !== BUILDER_INDEX_SELF_BUILD;
  }

  #signatureOf(proposer: ValidatorIndex, message: gloas.ExecutionPayloadEnvelope): LazyAggregateSignature {
    const { chain, signer } = this.#parts;
    const signature =
      this.#signatures.get(message) ??
      signer.signLazily(proposer, getExecutionPayloadEnvelopeSigningRoot(chain.config, message));
    this.#signatures.set(message, signature);
    return signature;
  }

  async #publishBlobs({ root, blobsBundle }: ProducedFullBlock): Promise<void> {
    const { chain } = this.#parts;
    const signed = blobsBundle && (await chain.blocks.signedByRoot(root));
    if (signed) chain.sidecars.publishCreated(await chain.data.sidecarsOf(signed, blobsBundle));
  }

  /** Groups the members by what they vote for. A member signs once for each of its positions. */
  #votesOf(
    slot: Slot,
    { root, state, voters }: PayloadVoteTarget,
    honest: PayloadVote,
    plan: DutyPlan,
  ): PayloadVotes[] {
    const { chain, signer } = this.#parts;
    const committee = state.epochCtx.getPayloadTimelinessCommittee(slot);
    const groups = new Map<string, { vote: PayloadVote; positions: number[]; members: ValidatorIndex[] }>();
    for (let position = 0; position < committee.length; position++) {
      const member = committee[position]!;
      if (!voters.has(member)) continue;
      const vote = plan.payloadVote ? plan.payloadVote(member, honest) : honest;
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
      return { data, bits, members, signature };
    });
  }
}
