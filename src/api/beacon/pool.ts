import type { routes } from "@lodestar/api";
import type { ApplicationMethods } from "@lodestar/api/server";
import { ForkName, isForkPostElectra } from "@lodestar/params";
import { type Attestation, type CommitteeIndex, isElectraAttestation, type Slot } from "@lodestar/types";
import type { BeaconChain } from "../../chain/chain.ts";
import { GossipRefusal } from "../../chain/validation/outcome.ts";
import { requireScheduled } from "../fork-support.ts";
import { requireTaken, requireValid } from "../submissions.ts";
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

export function createPoolApi({ config, clock, pools, intake }: BeaconChain): PoolApi {
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
      requireScheduled(config, ForkName.capella, CREDENTIALS_CHANGES);
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
