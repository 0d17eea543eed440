import type { routes } from "@lodestar/api";
import type { ApplicationMethods } from "@lodestar/api/server";
import { type Failure, unsupported } from "../../failure.ts";

export type GloasApi = Pick<
  ApplicationMethods<routes.beacon.Endpoints>,
  | "getStateBuilders"
  | "publishExecutionPayloadBid"
  | "publishExecutionPayloadEnvelope"
  | "getSignedExecutionPayloadEnvelope"
  | "getPoolPayloadAttestations"
  | "submitPayloadAttestationMessages"
>;

/** What the fork after those that the node knows will bring. */
export function createGloasApi(): GloasApi {
  return {
    async getStateBuilders() {
      throw ofGloas("Builders");
    },
    async publishExecutionPayloadBid() {
      throw ofGloas("Bids for execution payloads");
    },
    async publishExecutionPayloadEnvelope() {
      throw ofGloas("Envelopes of execution payloads");
    },
    async getSignedExecutionPayloadEnvelope() {
      throw ofGloas("Envelopes of execution payloads");
    },
    async getPoolPayloadAttestations() {
      throw ofGloas("Payload attestations");
    },
    async submitPayloadAttestationMessages() {
      throw ofGloas("Payload attestations");
    },
  };
}

function ofGloas(what: string): Failure {
  return unsupported(`${what} come with the gloas fork, which this node does not support.`);
}
