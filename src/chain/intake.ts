import { getAttesterSlashableIndices } from "@lodestar/state-transition";
import type {
  AttesterSlashing,
  altair,
  capella,
  phase0,
  SignedAggregateAndProof,
  SingleAttestation,
} from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { ChainEvents } from "./events.ts";
import type { ForkChoice } from "./fork-choice/fork-choice.ts";
import type { AttestationVotes } from "./fork-choice/types.ts";
import type { AttestationPool } from "./pools/attestation-pool.ts";
import type { OperationPool } from "./pools/operation-pool.ts";
import type { SyncCommitteePool } from "./pools/sync-committee-pool.ts";
import { validateAggregates } from "./validation/aggregate.ts";
import { validateAttestations } from "./validation/attestation.ts";
import { validateAttesterSlashing } from "./validation/attester-slashing.ts";
import { validateBlsChange } from "./validation/bls-change.ts";
import type { ValidationContext } from "./validation/context.ts";
import type { GossipRefusal, Outcome } from "./validation/outcome.ts";
import { validateProposerSlashing } from "./validation/proposer-slashing.ts";
import { validateContributions, validateSyncMessages } from "./validation/sync-committee.ts";
import { validateVoluntaryExit } from "./validation/voluntary-exit.ts";

export interface IntakeParts {
  context: ValidationContext;
  forkChoice: ForkChoice;
  events: ChainEvents;
  pools: { attestations: AttestationPool; operations: OperationPool; syncCommittee: SyncCommitteePool };
  /** Lets fork choice decide anew. */
  refreshHead(): Promise<void>;
}

/** Null where the item was taken, in the order the items were given. */
export type IntakeResults = (GossipRefusal | null)[];

/**
 * Where objects from outside enter, by a door or by gossip: validated by the gossip rules, put into the pool, counted
 * by fork choice, announced. What is refused changes nothing.
 */
export class Intake {
  readonly #parts: IntakeParts;

  constructor(parts: IntakeParts) {
    this.#parts = parts;
  }

  async attestations(attestations: (phase0.Attestation | SingleAttestation)[]): Promise<IntakeResults> {
    const { context, forkChoice, events, pools } = this.#parts;
    const results = await validateAttestations(context, attestations);
    for (const [i, result] of results.entries()) {
      if (!result.ok) continue;
      const vote = result.value;
      pools.attestations.addSingle(vote);
      forkChoice.onAttestation(votesOf(vote.data, [vote.validatorIndex]));
      events.publish("attestation", attestations[i]!);
    }
    return this.#counted(results);
  }

  async aggregates(aggregates: SignedAggregateAndProof[]): Promise<IntakeResults> {
    const { context, forkChoice, events, pools } = this.#parts;
    const results = await validateAggregates(context, aggregates);
    for (const [i, result] of results.entries()) {
      if (!result.ok) continue;
      const vote = result.value;
      pools.attestations.addAggregate(vote);
      forkChoice.onAttestation(votesOf(vote.data, vote.attestingIndices));
      events.publish("attestation", aggregates[i]!.message.aggregate);
    }
    return this.#counted(results);
  }

  async syncMessages(messages: altair.SyncCommitteeMessage[]): Promise<IntakeResults> {
    const { context, pools } = this.#parts;
    const results = await validateSyncMessages(context, messages);
    return results.map((result, i) => {
      if (!result.ok) return result.refusal;
      const { slot, beaconBlockRoot, signature } = messages[i]!;
      for (const { subcommitteeIndex, indicesInSubcommittee } of result.value.subcommittees) {
        for (const indexInSubcommittee of indicesInSubcommittee) {
          pools.syncCommittee.addMessage({
            slot,
            beaconBlockRoot: toRootHex(beaconBlockRoot),
            subcommitteeIndex,
            indexInSubcommittee,
            signature,
          });
        }
      }
      return null;
    });
  }

  async contributions(contributions: altair.SignedContributionAndProof[]): Promise<IntakeResults> {
    const { context, events, pools } = this.#parts;
    const results = await validateContributions(context, contributions);
    return results.map((result, i) => {
      if (!result.ok) return result.refusal;
      const signed = contributions[i]!;
      pools.syncCommittee.addContribution(signed.message.contribution);
      events.publish("contribution", signed);
      return null;
    });
  }

  async voluntaryExit(exit: phase0.SignedVoluntaryExit): Promise<void> {
    const { context, events, pools } = this.#parts;
    await validateVoluntaryExit(context, exit);
    if (pools.operations.addVoluntaryExit(exit) === "added") events.publish("voluntaryExit", exit);
  }

  async proposerSlashing(slashing: phase0.ProposerSlashing): Promise<void> {
    const { context, events, pools } = this.#parts;
    await validateProposerSlashing(context, slashing);
    if (pools.operations.addProposerSlashing(slashing) === "added") events.publish("proposerSlashing", slashing);
  }

  async attesterSlashing(slashing: AttesterSlashing): Promise<void> {
    const { context, events, forkChoice, pools } = this.#parts;
    await validateAttesterSlashing(context, slashing);
    forkChoice.onAttesterSlashing(getAttesterSlashableIndices(slashing));
    const fork = context.config.getForkName(context.clock.currentSlot);
    if (pools.operations.addAttesterSlashing(slashing, fork) === "added") events.publish("attesterSlashing", slashing);
    await this.#parts.refreshHead();
  }

  async blsToExecutionChange(change: capella.SignedBLSToExecutionChange): Promise<void> {
    const { context, events, pools } = this.#parts;
    await validateBlsChange(context, change);
    if (pools.operations.addBlsToExecutionChange(change) === "added") events.publish("blsToExecutionChange", change);
  }

  /** Votes of the current slot count from the next one on; older ones count at once and may move the head. */
  async #counted(results: Outcome<{ data: phase0.AttestationData }>[]): Promise<IntakeResults> {
    const { context, refreshHead } = this.#parts;
    const { currentSlot } = context.clock;
    if (results.some((result) => result.ok && result.value.data.slot < currentSlot)) await refreshHead();
    return results.map((result) => (result.ok ? null : result.refusal));
  }
}

function votesOf(
  { slot, target, beaconBlockRoot }: phase0.AttestationData,
  indices: ArrayLike<number>,
): AttestationVotes {
  return { indices, slot, targetEpoch: target.epoch, blockRoot: toRootHex(beaconBlockRoot) };
}
