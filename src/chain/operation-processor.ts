import type { BitArray } from "@chainsafe/ssz";
import type { BeaconConfig } from "@lodestar/config";
import { ForkSeq } from "@lodestar/params";
import { getAttesterSlashableIndices } from "@lodestar/state-transition";
import {
  type AttesterSlashing,
  type altair,
  type capella,
  type gloas,
  type phase0,
  type SignedAggregateAndProof,
  type SingleAttestation,
  ssz,
  type ValidatorIndex,
} from "@lodestar/types";
import { toHex, toRootHex } from "@lodestar/utils";
import type { ExecutionBids } from "./bids/execution-bids.ts";
import type { ChainEvents } from "./events.ts";
import type { ForkChoice } from "./fork-choice/fork-choice.ts";
import type { AttestationVotes, PayloadAttestationVotes } from "./fork-choice/types.ts";
import type { AddOutcome } from "./pools/aggregate-set.ts";
import type { GivenSignature } from "./pools/pooled-signature.ts";
import type { Pools } from "./pools/pools.ts";
import type { PooledContribution } from "./pools/sync-committee-pool.ts";
import { type ValidatedAggregate, validateAggregates } from "./validation/aggregate.ts";
import { type ValidatedAttestation, validateAttestations } from "./validation/attestation.ts";
import { validateAttesterSlashing } from "./validation/attester-slashing.ts";
import { validateBlsChange } from "./validation/bls-change.ts";
import type { ValidationContext } from "./validation/context.ts";
import { alreadyKnown, ignore, type Origin, type Outcome } from "./validation/outcome.ts";
import { validateExecutionBid } from "./validation/payloads/execution-bid.ts";
import {
  type ValidatedPayloadAttestation,
  validatePayloadAttestations,
} from "./validation/payloads/payload-attestation.ts";
import { validateProposerPreferences } from "./validation/payloads/proposer-preferences.ts";
import { validateProposerSlashing } from "./validation/proposer-slashing.ts";
import {
  type ValidatedContribution,
  type ValidatedSyncMessage,
  validateContributions,
  validateSyncMessages,
} from "./validation/sync-committee.ts";
import { validateVoluntaryExit } from "./validation/voluntary-exit.ts";

interface OperationProcessorParts {
  context: ValidationContext;
  forkChoice: ForkChoice;
  events: ChainEvents;
  pools: Pick<Pools, "attestations" | "operations" | "syncCommittee" | "payloadAttestations">;
  executionBids: Pick<ExecutionBids, "add">;
  /** Recomputes the head. */
  refreshHead(): Promise<void>;
}

/** Committee attestation signed by this node's validators, without an aggregator. */
type OwnAttestation = Omit<ValidatedAggregate, "signature" | "aggregatorIndex"> & { signature: GivenSignature };

/** Payload attestations signed by this node's validators. The bits are positions in the committee. */
interface OwnPayloadAttestation {
  data: gloas.PayloadAttestationData;
  bits: BitArray;
  signature: GivenSignature;
}

/**
 * Entry point for operations from the API and from gossip. Validates operations, adds them to the pools, counts them in
 * fork choice and publishes events. A rejected operation has no effect.
 */
export class OperationProcessor {
  readonly #parts: OperationProcessorParts;

  constructor(parts: OperationProcessorParts) {
    this.#parts = parts;
  }

  /**
   * Processes attestations. Outcomes are in input order; an outcome for an accepted attestation includes the subnet.
   *
   * @param arrivedOn subnet of each attestation; omitted for API submissions
   */
  async attestations(
    attestations: readonly (phase0.Attestation | SingleAttestation)[],
    arrivedOn?: readonly number[],
  ): Promise<Outcome<ValidatedAttestation>[]> {
    const { context, forkChoice, events, pools } = this.#parts;
    const outcomes = await validateAttestations(context, attestations, arrivedOn);
    for (const [i, outcome] of outcomes.entries()) {
      if (!outcome.ok) continue;
      const validated = outcome.value;
      pools.attestations.addSingle(validated);
      forkChoice.onAttestation(attestationVotes(context, validated.data, [validated.validatorIndex]), {
        isFromBlock: false,
      });
      events.publish("attestation", attestations[i]!);
    }
    await this.#refreshHeadFor(outcomes);
    return outcomes;
  }

  async aggregates(
    aggregates: readonly SignedAggregateAndProof[],
    origin: Origin = "client",
  ): Promise<Outcome<ValidatedAggregate>[]> {
    const { context, forkChoice, events, pools } = this.#parts;
    const outcomes = await validateAggregates(context, aggregates, origin);
    for (const [i, outcome] of outcomes.entries()) {
      if (!outcome.ok) continue;
      const validated = outcome.value;
      pools.attestations.addAggregate(validated);
      forkChoice.onAttestation(attestationVotes(context, validated.data, validated.attestingIndices), {
        isFromBlock: false,
      });
      events.publish("attestation", aggregates[i]!.message.aggregate);
    }
    await this.#refreshHeadFor(outcomes);
    return outcomes;
  }

  /** Adds an attestation by this node's own validators, without verification or events. */
  ownAttestation(attestation: OwnAttestation): void {
    const { context, forkChoice, pools } = this.#parts;
    const { data, dataRoot, attestingIndices } = attestation;
    pools.attestations.addAggregate(attestation);
    for (const index of attestingIndices) context.seen.attesters.add(data.target.epoch, index, dataRoot);
    forkChoice.onAttestation(attestationVotes(context, data, attestingIndices), { isFromBlock: false });
  }

  /** Adds payload attestations with the same data by this node's own validators, without verification or events. */
  ownPayloadAttestation({ data, bits, signature }: OwnPayloadAttestation): void {
    const { forkChoice, pools } = this.#parts;
    pools.payloadAttestations.addAggregate({ data, bits, signature });
    forkChoice.onPayloadAttestation(payloadVotesOf(data, bits.getTrueBitIndexes()));
  }

  /** Processes votes of the payload timeliness committee. Outcomes are in input order. */
  async payloadAttestations(
    messages: readonly gloas.PayloadAttestationMessage[],
  ): Promise<Outcome<ValidatedPayloadAttestation>[]> {
    const { context, forkChoice, events, pools } = this.#parts;
    const outcomes = await validatePayloadAttestations(context, messages);
    for (const outcome of outcomes) {
      if (!outcome.ok) continue;
      const { message, positions } = outcome.value;
      pools.payloadAttestations.addMessage(message, positions);
      forkChoice.onPayloadAttestation(payloadVotesOf(message.data, positions));
      events.publish("payloadAttestation", message);
    }
    return outcomes;
  }

  /** Adds a bid of a builder. Throws a `GossipValidationError`. */
  async executionBid(signed: gloas.SignedExecutionPayloadBid): Promise<void> {
    const { context, events, executionBids } = this.#parts;
    await validateExecutionBid(context, signed);
    executionBids.add(signed);
    events.publish("executionBid", signed);
  }

  /** Adds the preferences of a proposer, which bids have to match. Throws a `GossipValidationError`. */
  async proposerPreferences(signed: gloas.SignedProposerPreferences): Promise<void> {
    const { context, events } = this.#parts;
    await validateProposerPreferences(context, signed);
    events.publish("proposerPreferences", signed);
  }

  /** Adds a sync committee contribution by this node's own validators, without verification or events. */
  ownContribution(contribution: PooledContribution, members: readonly ValidatorIndex[]): void {
    const { context, pools } = this.#parts;
    const { slot, subcommitteeIndex, beaconBlockRoot } = contribution;
    const root = toRootHex(beaconBlockRoot);
    pools.syncCommittee.addContribution(contribution);
    for (const member of members) context.seen.syncMessages.add(slot, subcommitteeIndex, member, root);
  }

  /**
   * Processes sync committee messages. Outcomes are in input order; an outcome for an accepted message includes the
   * subcommittees (subnets).
   *
   * @param arrivedOn subnet of each message; omitted for API submissions
   */
  async syncMessages(
    messages: readonly altair.SyncCommitteeMessage[],
    arrivedOn?: readonly number[],
  ): Promise<Outcome<ValidatedSyncMessage>[]> {
    const { context, pools } = this.#parts;
    const outcomes = await validateSyncMessages(context, messages, arrivedOn);
    for (const outcome of outcomes) {
      if (!outcome.ok) continue;
      const { message, blockRoot, subcommittees } = outcome.value;
      const { slot, signature } = message;
      for (const { subcommitteeIndex, indicesInSubcommittee } of subcommittees) {
        for (const indexInSubcommittee of indicesInSubcommittee) {
          pools.syncCommittee.addMessage({
            slot,
            beaconBlockRoot: blockRoot,
            subcommitteeIndex,
            indexInSubcommittee,
            signature,
          });
        }
      }
    }
    return outcomes;
  }

  async contributions(
    contributions: readonly altair.SignedContributionAndProof[],
  ): Promise<Outcome<ValidatedContribution>[]> {
    const { context, events, pools } = this.#parts;
    const outcomes = await validateContributions(context, contributions);
    for (const [i, outcome] of outcomes.entries()) {
      if (!outcome.ok) continue;
      pools.syncCommittee.addContribution(outcome.value.contribution);
      events.publish("contribution", contributions[i]!);
    }
    return outcomes;
  }

  /** Throws a `GossipValidationError`, as do all methods that take a single operation. */
  async voluntaryExit(exit: phase0.SignedVoluntaryExit, origin: Origin = "client"): Promise<void> {
    const { context, events, pools } = this.#parts;
    await validateVoluntaryExit(context, exit, origin);
    requireAdded(pools.operations.addVoluntaryExit(exit), "exit");
    events.publish("voluntaryExit", exit);
  }

  async proposerSlashing(slashing: phase0.ProposerSlashing, origin: Origin = "client"): Promise<void> {
    const { context, events, pools } = this.#parts;
    await validateProposerSlashing(context, slashing, origin);
    requireAdded(pools.operations.addProposerSlashing(slashing), "proposer slashing");
    events.publish("proposerSlashing", slashing);
  }

  async attesterSlashing(slashing: AttesterSlashing, origin: Origin = "client"): Promise<void> {
    const { context, events, forkChoice, pools } = this.#parts;
    await validateAttesterSlashing(context, slashing, origin);
    const fork = context.config.getForkName(context.clock.currentSlot);
    requireAdded(pools.operations.addAttesterSlashing(slashing, fork), "attester slashing");
    forkChoice.onAttesterSlashing(getAttesterSlashableIndices(slashing));
    events.publish("attesterSlashing", slashing);
    await this.#parts.refreshHead();
  }

  async blsToExecutionChange(change: capella.SignedBLSToExecutionChange, origin: Origin = "client"): Promise<void> {
    const { context, events, pools } = this.#parts;
    await validateBlsChange(context, change, origin);
    refuseOtherChange(change, pools.operations.blsToExecutionChangeOf(change.message.validatorIndex));
    requireAdded(pools.operations.addBlsToExecutionChange(change), "change of credentials");
    events.publish("blsToExecutionChange", change);
  }

  /**
   * Updates the head if needed: attestations from the current slot count from the next slot on, while older
   * attestations can move the head immediately.
   */
  async #refreshHeadFor(outcomes: readonly Outcome<{ data: phase0.AttestationData }>[]): Promise<void> {
    const { context, refreshHead } = this.#parts;
    const { currentSlot } = context.clock;
    if (outcomes.some((outcome) => outcome.ok && outcome.value.data.slot < currentSlot)) await refreshHead();
  }
}

/** Throws if the pool already has an equivalent operation for the same validator. */
function requireAdded(outcome: AddOutcome, subject: string): void {
  if (outcome !== "added") throw alreadyKnown(`An equivalent ${subject} is already in the pool.`);
}

/**
 * Rejects a second, different credential change for the same validator. Unlike other operations, the two changes have
 * different effects, and only the first one can be included.
 */
function refuseOtherChange(
  { message }: capella.SignedBLSToExecutionChange,
  pending: capella.SignedBLSToExecutionChange | undefined,
): void {
  if (!pending || ssz.capella.BLSToExecutionChange.equals(pending.message, message)) return;
  throw ignore(
    "conflicting-change",
    `A change of the withdrawal credentials of validator ${message.validatorIndex} to ` +
      `${toHex(pending.message.toExecutionAddress)} is already pending. Credentials can be changed only once.`,
  );
}

/** Since gloas, the index in the data is a vote on the block's payload. */
export function attestationVotes(
  { config }: { config: Pick<BeaconConfig, "getForkSeq"> },
  { slot, index, target, beaconBlockRoot }: phase0.AttestationData,
  indices: ArrayLike<number>,
): AttestationVotes {
  const payloadPresent = index === 1 && config.getForkSeq(slot) >= ForkSeq.gloas;
  return { indices, slot, targetEpoch: target.epoch, blockRoot: toRootHex(beaconBlockRoot), payloadPresent };
}

function payloadVotesOf(
  { slot, beaconBlockRoot, payloadPresent, blobDataAvailable }: gloas.PayloadAttestationData,
  positions: Iterable<number>,
): PayloadAttestationVotes {
  return { positions, slot, blockRoot: toRootHex(beaconBlockRoot), payloadPresent, blobDataAvailable };
}
