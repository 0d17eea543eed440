import { isReadOnly } from "../../server/access-class.ts";
import { memberOf } from "../upstream/client/json-fields.ts";
import { isUnsupportedVersion } from "../upstream/requests/error-response.ts";
import { UpstreamError, type UpstreamRequest } from "../upstream/upstream-call.ts";
import type { Operation } from "./operations.ts";
import { hasFormat, type Probe, type ProbeResponse, parseJson } from "./probe.ts";
import type { Finding, Outcome } from "./report.ts";
import { findSchemaViolation } from "./schema-check.ts";

/** Result of one operation on one upstream, with the parts of the answer that are compared. */
export interface OperationCheck {
  readonly finding: Finding;
  /** Undefined if there is none, or if it is too large to parse. */
  readonly data?: unknown;
  /** Compared members outside of `data`. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** SHA-256 of the SSZ response. */
  readonly sszDigest?: string;
}

const SLOW_MILLIS = 2000;
const MAX_REASON_LENGTH = 200;
/** Statuses for a missing object or operation. Nimbus sends 410 for removed operations. */
const ABSENT_STATUSES: ReadonlySet<number> = new Set([404, 405, 410, 501]);
/**
 * Members outside of `data` that describe the chain. `execution_optimistic` describes the node, so it is not compared.
 */
const COMPARED_METADATA = ["version", "finalized", "dependent_root"];
/** Statuses by which clients report that they do not hold a block's data: Lighthouse sends 400, Lodestar 503. */
const DATA_NOT_HELD: ReadonlySet<number> = new Set([400, 503]);

interface Verdict {
  readonly outcome: Outcome;
  readonly reason?: string;
}

/** Tests an operation on an upstream, in JSON and, if specified, in SSZ. */
export async function checkOperation(
  probe: Probe,
  operation: Operation,
  request: UpstreamRequest,
): Promise<OperationCheck> {
  const { method, path } = operation;
  const response = await requestOrError(probe, request, method.feed === undefined ? "json" : "events");
  if ("outcome" in response) return { finding: response };
  const { data, metadata } = resultOf(response);
  const judged = await applyExceptions(probe, operation, response, judgeResponse(operation, response, data));
  const finding: Finding = {
    ...judged,
    millis: response.millis,
    ...(response.millis > SLOW_MILLIS ? { isSlow: true } : {}),
  };
  if (judged.outcome !== "ok") return { finding };
  if (path.ssz !== "response") return { finding, data, metadata };
  const ssz = await requestOrError(probe, request, "ssz");
  if ("outcome" in ssz)
    return { finding: { ...finding, ssz: ssz.outcome, reason: `as SSZ, ${ssz.reason}` }, data, metadata };
  const sszJudged = await applyExceptions(probe, operation, ssz, judgeSsz(ssz));
  const reason = sszJudged.outcome === "ok" ? {} : { reason: `as SSZ, ${sszJudged.reason}` };
  return {
    finding: { ...finding, ...reason, ssz: sszJudged.outcome },
    data,
    metadata,
    sszDigest: sszJudged.outcome === "ok" ? ssz.digest : undefined,
  };
}

async function requestOrError(
  probe: Probe,
  request: UpstreamRequest,
  format: Parameters<Probe["request"]>[1],
): Promise<ProbeResponse | Verdict> {
  try {
    return await probe.request(request, format);
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    return { outcome: "error", reason: error.message };
  }
}

function judgeResponse({ method, path, isMandatory }: Operation, response: ProbeResponse, data: unknown): Verdict {
  const { status } = response;
  const byStatus = judgeStatus(response);
  // The status is the answer.
  if (method.resultForStatus !== undefined && status === 503) return { outcome: "ok" };
  // Some clients, including Prysm, reject an empty list.
  if (!isReadOnly(method.access)) {
    return status === 400 && byStatus.outcome === "refused" ? { ...byStatus, outcome: "declined" } : byStatus;
  }
  if (byStatus.outcome === "absent" && isMandatory) {
    return { outcome: "error", reason: `${byStatus.reason}, although every beacon node must have it` };
  }
  if (byStatus.outcome !== "ok" || method.resultForStatus !== undefined) return byStatus;
  if (method.feed !== undefined) {
    return hasFormat(response, "events")
      ? byStatus
      : { outcome: "wrong-form", reason: "the answer is not an event stream" };
  }
  if (response.body === undefined) return byStatus;
  if (data === undefined) return { outcome: "wrong-form", reason: `the answer to ${path.verb} is not JSON` };
  const violation = findSchemaViolation(data, method.result.schema);
  return violation === undefined ? byStatus : { outcome: "wrong-form", reason: violation };
}

/**
 * Downgrades failures that the standard allows: for a retired path, for data that the node does not hold, and while the
 * node is not ready.
 */
async function applyExceptions(
  probe: Probe,
  operation: Operation,
  { status }: ProbeResponse,
  judged: Verdict,
): Promise<Verdict> {
  const { isRetired, isBlockData, isMandatory } = operation;
  if (judged.outcome === "ok") return judged;
  if (isRetired || (isBlockData && DATA_NOT_HELD.has(status))) return { ...judged, outcome: "absent" };
  const isUnready = status === 503 && !isMandatory && (await reportsUnready(probe));
  return isUnready ? { ...judged, outcome: "not-ready" } : judged;
}

/** Polled at each 503, because a node may fall behind during the test. */
async function reportsUnready(probe: Probe): Promise<boolean> {
  const response = await requestOrError(probe, { verb: "GET", url: "/eth/v1/node/syncing", headers: {} }, "json");
  if ("outcome" in response) return false;
  const { data } = resultOf(response);
  return ["is_syncing", "is_optimistic", "el_offline"].some((name) => memberOf(data, name) === true);
}

function judgeSsz(response: ProbeResponse): Verdict {
  const byStatus = judgeStatus(response);
  if (response.status === 406 || response.status === 415) return { ...byStatus, outcome: "absent" };
  if (byStatus.outcome !== "ok" || hasFormat(response, "ssz")) return byStatus;
  return { outcome: "absent", reason: `it answers with ${response.mediaType || "no media type"}` };
}

function judgeStatus(response: ProbeResponse): Verdict {
  const { status } = response;
  if (status >= 200 && status < 300) return { outcome: "ok" };
  const reason = statusReason(response);
  if (ABSENT_STATUSES.has(status) || isUnsupportedVersion(response)) return { outcome: "absent", reason };
  return { outcome: status >= 400 && status < 500 ? "refused" : "error", reason };
}

function statusReason(response: ProbeResponse): string {
  const { message } = (parseJson(response) ?? {}) as { message?: unknown };
  const suffix = typeof message === "string" && message !== "" ? `: ${message.slice(0, MAX_REASON_LENGTH)}` : "";
  return `HTTP status ${response.status}${suffix}`;
}

/** Splits a body into `data` and metadata. Some operations have neither. */
function resultOf(response: ProbeResponse): Pick<OperationCheck, "data" | "metadata"> {
  const body = parseJson(response);
  if (typeof body !== "object" || body === null || !("data" in body)) return { data: body };
  const metadata = Object.entries(body).filter(([name]) => COMPARED_METADATA.includes(name));
  return { data: body.data, metadata: Object.fromEntries(metadata) };
}
