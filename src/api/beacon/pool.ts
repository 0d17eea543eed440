import type { routes } from "@lodestar/api";
import type { ApplicationMethods } from "@lodestar/api/server";
import { ForkName, isForkPostElectra } from "@lodestar/params";
import {
  type Attestation,
  type CommitteeIndex,
  isElectraAttestation,
  type SingleAttestation,
  type Slot,
} from "@lodestar/types";
import type { BeaconChain } from "../../chain/chain.ts";
import type { ValidatedAttestation } from "../../chain/validation/attestation.ts";
import { type Outcome, outcomeOf } from "../../chain/validation/outcome.ts";
import type { Broadcast } from "../../network/broadcast.ts";
import { requireScheduled } from "../fork-support.ts";
import { submitAll, submitOne } from "../submissions.ts";
import { requireSyncCommittees } from "../validator/sync-committee-state.ts";

const CREDENTIALS_CHANGES = "Changes of BLS to execution credentials";

export interface AttestationFilter {
  slot?: Slot;
  committeeIndex?: CommitteeIndex;
}

type StandardMethods = Pick<
  ApplicationMethods<routes.beacon.Endpoints>,
  | "getPoolAttestationsV2"
  | "getPoolAttesterSlashingsV2"
  | "getPoolProposerSlashings"
  | "getPoolVoluntaryExits"
  | "getPoolBLSToExecutionChanges"
  | "submitPoolAttestationsV2"
  | "submitPoolAttesterSlashingsV2"
  | "submitPoolProposerSlashings"
  | "submitPoolVoluntaryExit"
  | "submitPoolBLSToExecutionChange"
  | "submitPoolSyncCommitteeSignatures"
>;

export interface PoolApi extends StandardMethods {
  /** The standard's first version, whose list may hold attestations of several forks. */
  getPoolAttestations(filter: AttestationFilter): Promise<Attestation[]>;
}

export function createPoolApi({ config, clock, pools, processor }: BeaconChain, broadcast: Broadcast): PoolApi {
  return {
    async getPoolAttestations(filter) {
      return pools.attestations.list(filter);
    },

    async getPoolAttestationsV2({ slot, committeeIndex }) {
      // A slot beyond what a number holds has become infinite, as are the epochs of forks that never come.
      const version = config.getForkName(Math.min(slot ?? clock.currentSlot, Number.MAX_SAFE_INTEGER));
      const held = pools.attestations.list({ slot, committeeIndex });
      // A list has one version. Those of another form are of the last epoch before a fork, and no block takes them now.
      const data = held.filter((attestation) => isElectraAttestation(attestation) === isForkPostElectra(version));
      return { data, meta: { version } };
    },

    async getPoolAttesterSlashingsV2() {
      const version = config.getForkName(clock.currentSlot);
      return { data: pools.operations.listAttesterSlashings(), meta: { version } };
    },

    async getPoolProposerSlashings() {
      return { data: pools.operations.listProposerSlashings() };
    },

    async getPoolVoluntaryExits() {
      return { data: pools.operations.listVoluntaryExits() };
    },

    async getPoolBLSToExecutionChanges() {
      requireScheduled(config, ForkName.capella, CREDENTIALS_CHANGES);
      return { data: pools.operations.listBlsToExecutionChanges() };
    },

    async submitPoolAttestationsV2({ signedAttestations }) {
      await submitAll<SingleAttestation, ValidatedAttestation>(
        signedAttestations,
        (attestations) => processor.attestations(attestations),
        (attestation, { subnet }) => broadcast.attestation(attestation, subnet),
      );
    },

    async submitPoolAttesterSlashingsV2({ attesterSlashing }) {
      await submitOne(
        attesterSlashing,
        (slashing) => processor.attesterSlashing(slashing),
        (slashing) => broadcast.attesterSlashing(slashing),
      );
    },

    async submitPoolProposerSlashings({ proposerSlashing }) {
      await submitOne(
        proposerSlashing,
        (slashing) => processor.proposerSlashing(slashing),
        (slashing) => broadcast.proposerSlashing(slashing),
      );
    },

    async submitPoolVoluntaryExit({ signedVoluntaryExit }) {
      await submitOne(
        signedVoluntaryExit,
        (exit) => processor.voluntaryExit(exit),
        (exit) => broadcast.voluntaryExit(exit),
      );
    },

    async submitPoolBLSToExecutionChange({ blsToExecutionChanges }) {
      requireScheduled(config, ForkName.capella, CREDENTIALS_CHANGES);
      await submitAll(
        blsToExecutionChanges,
        (changes) => inTurn(changes, (change) => processor.blsToExecutionChange(change)),
        (change) => broadcast.blsToExecutionChange(change),
      );
    },

    async submitPoolSyncCommitteeSignatures({ signatures }) {
      requireSyncCommittees({ config });
      await submitAll(
        signatures,
        (messages) => processor.syncMessages(messages),
        (message, { subcommittees }) => {
          for (const { subcommitteeIndex } of subcommittees) broadcast.syncMessage(message, subcommitteeIndex);
        },
      );
    },
  };
}

async function inTurn<Item>(items: readonly Item[], intake: (item: Item) => Promise<void>): Promise<Outcome<void>[]> {
  const outcomes = [];
  for (const item of items) outcomes.push(await outcomeOf(() => intake(item)));
  return outcomes;
}
