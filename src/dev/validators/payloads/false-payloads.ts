import { createHash } from "node:crypto";
import type { ExecutionPayload, gloas } from "@lodestar/types";
import type { BuiltPayload } from "../../../execution/engine.ts";

/** Returns an envelope for the same block with another payload. */
export function differentEnvelope(envelope: gloas.ExecutionPayloadEnvelope): gloas.ExecutionPayloadEnvelope {
  return { ...envelope, payload: withOtherHash(envelope.payload) };
}

/** Returns a payload that the execution engine rejects, because its block hash is not that of its content. */
export function invalidPayload(built: BuiltPayload): BuiltPayload {
  return { ...built, payload: withOtherHash(built.payload) };
}

const withOtherHash = <Payload extends ExecutionPayload>(payload: Payload): Payload => ({
  ...payload,
  blockHash: new Uint8Array(createHash("sha256").update(payload.blockHash).digest()),
});
