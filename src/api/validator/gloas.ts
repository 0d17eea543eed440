import type { routes } from "@lodestar/api";
import type { ApplicationMethods } from "@lodestar/api/server";
import type { Slot } from "@lodestar/types";
import { type Failure, unsupported } from "../../failure.ts";

export type ValidatorGloasApi = Pick<
  ApplicationMethods<routes.validator.Endpoints>,
  | "getPtcDuties"
  | "produceBlockV4"
  | "producePayloadAttestationData"
  | "getExecutionPayloadEnvelope"
  | "submitProposerPreferences"
> & {
  /** The vocabulary does not have it. */
  getExecutionPayloadBid(args: { slot: Slot; builderIndex: number }): Promise<never>;
};

/** What the fork after those that the node knows will bring for validators. */
export function createValidatorGloasApi(): ValidatorGloasApi {
  return {
    async getPtcDuties() {
      throw ofGloas("Payload timeliness committees");
    },
    async produceBlockV4() {
      throw ofGloas("Blocks without payloads");
    },
    async producePayloadAttestationData() {
      throw ofGloas("Payload attestations");
    },
    async getExecutionPayloadEnvelope() {
      throw ofGloas("Envelopes of execution payloads");
    },
    async submitProposerPreferences() {
      throw ofGloas("Preferences of proposers");
    },
    async getExecutionPayloadBid() {
      throw ofGloas("Bids for execution payloads");
    },
  };
}

function ofGloas(what: string): Failure {
  return unsupported(`${what} come with the gloas fork, which this node does not support.`);
}
