import type { routes } from "@lodestar/api";
import type { ApplicationMethods } from "@lodestar/api/server";
import { isForkPostElectra } from "@lodestar/params";
import { type Attestation, type CommitteeIndex, isElectraAttestation, type Slot } from "@lodestar/types";
import type { BeaconChain } from "../../chain/chain.ts";
import { GossipRefusal } from "../../chain/validation/outcome.ts";
import { requireTaken, requireValid } from "../submissions.ts";
import { requireSyncCommittees } from "../validator/sync-committee-state.ts";

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

export function createPoolApi({ config, clock, pools, intake }: BeaconChain): PoolApi {
  return {
    async getPoolAttestations(filter) {
      return pools.attestations.list(filter);
    },

    async getPoolAttestationsV2({ slot, committeeIndex }) {
      const version = config.getForkName(slot ?? clock.currentSlot);
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
      return { data: pools.operations.listBlsToExecutionChanges() };
    },

    async submitPoolAttestationsV2({ signedAttestations }) {
      requireTaken(await intake.attestations(signedAttestations));
    },

    async submitPoolAttesterSlashingsV2({ attesterSlashing }) {
      await requireValid(intake.attesterSlashing(attesterSlashing));
    },

    async submitPoolProposerSlashings({ proposerSlashing }) {
      await requireValid(intake.proposerSlashing(proposerSlashing));
    },

    async submitPoolVoluntaryExit({ signedVoluntaryExit }) {
      await requireValid(intake.voluntaryExit(signedVoluntaryExit));
    },

    async submitPoolBLSToExecutionChange({ blsToExecutionChanges }) {
      const results = [];
      for (const change of blsToExecutionChanges) {
        results.push(
          await intake.blsToExecutionChange(change).then(
            () => null,
            (error: unknown) => {
              if (error instanceof GossipRefusal) return error;
              throw error;
            },
          ),
        );
      }
      requireTaken(results);
    },

    async submitPoolSyncCommitteeSignatures({ signatures }) {
      requireSyncCommittees({ config });
      requireTaken(await intake.syncMessages(signatures));
    },
  };
}
