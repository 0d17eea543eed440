import { toRootHex } from "@lodestar/utils";
import type { PayloadVerdict } from "../engine.ts";
import type { JsonValue } from "../json-value.ts";

const PAYLOAD_STATUSES = ["VALID", "INVALID", "SYNCING", "ACCEPTED", "INVALID_BLOCK_HASH"] as const;
type PayloadStatus = (typeof PAYLOAD_STATUSES)[number];

/** A decoded PayloadStatusV1 with the verdict derived from it. */
export interface ReadVerdict {
  status: PayloadStatus;
  verdict: PayloadVerdict;
}

/** Decodes PayloadStatusV1. SYNCING and ACCEPTED are NOT_VALIDATED (sync/optimistic.md). */
export function verdictFromJson(json: JsonValue): ReadVerdict {
  const status = json.member("status").oneOf(PAYLOAD_STATUSES);
  const hash = json.member("latestValidHash");
  const latestValidHash = hash.isAbsent ? null : toRootHex(hash.bytes(32));
  const error = json.member("validationError");
  const reason = error.isAbsent ? "" : error.text();
  if (status === "VALID") return { status, verdict: { status: "valid" } };
  if (status === "SYNCING" || status === "ACCEPTED") return { status, verdict: { status: "optimistic" } };
  const message = sentence(reason === "" ? "The execution client gave no reason" : reason);
  // The verdict on a payload with a wrong hash does not extend to its ancestors.
  return {
    status,
    verdict: { status: "invalid", latestValidHash: status === "INVALID" ? latestValidHash : null, message },
  };
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
