import type { routes } from "@lodestar/api";
import type { ApplicationMethods } from "@lodestar/api/server";
import type { BeaconChain } from "../../chain/chain.ts";
import { GossipRefusal } from "../../chain/validation/outcome.ts";
import { requireTaken, requireValid } from "../submissions.ts";

export type PoolApi = Pick<
  ApplicationMethods<routes.beacon.Endpoints>,
  | "submitPoolAttestationsV2"
  | "submitPoolAttesterSlashingsV2"
  | "submitPoolProposerSlashings"
  | "submitPoolVoluntaryExit"
  | "submitPoolBLSToExecutionChange"
  | "submitPoolSyncCommitteeSignatures"
>;

export function createPoolApi({ intake }: BeaconChain): PoolApi {
  return {
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
      requireTaken(await intake.syncMessages(signatures));
    },
  };
}
