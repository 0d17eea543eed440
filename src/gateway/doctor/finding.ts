import { isReadOnly } from "../../server/access-class.ts";
import { UpstreamError, type UpstreamRequest } from "../exchange.ts";
import { lacksVersion } from "../upstream/complaint.ts";
import { memberOf } from "../upstream/read-json.ts";
import { wrongForm } from "./form.ts";
import type { Operation } from "./operations.ts";
import { isOfForm, jsonOf, type Probe, type Told } from "./probe.ts";
import type { Finding, Outcome } from "./report.ts";

/** How an upstream took an operation, and what it answered, where that can be compared. */
export interface Found {
  readonly finding: Finding;
  /** The result; undefined when there is none, or when it is too large to be looked into. */
  readonly data?: unknown;
  /** What the answer says of its data, beside it. */
  readonly beside?: Readonly<Record<string, unknown>>;
  /** Of the answer in SSZ. */
  readonly sszDigest?: string;
}

const SLOW_MILLIS = 2000;
const LONGEST_REASON = 200;
/** Not found, or not there: Nimbus answers with 410 (Gone) what it does not offer any more. */
const ABSENT: ReadonlySet<number> = new Set([404, 405, 410, 501]);
/** Members beside the data that describe the chain. `execution_optimistic` describes the node, so it is not compared. */
const BESIDE = ["version", "finalized", "dependent_root"];
/** Statuses by which clients report that they do not hold a block's data: Lighthouse sends 400, Lodestar 503. */
const DATA_NOT_HELD: ReadonlySet<number> = new Set([400, 503]);

interface Judged {
  readonly outcome: Outcome;
  readonly reason?: string;
}

/** Asks an upstream for one operation, in every form that the standard has for it. */
export async function find(probe: Probe, operation: Operation, request: UpstreamRequest): Promise<Found> {
  const { method, path } = operation;
  const told = await askOrFail(probe, request, method.feed === undefined ? "json" : "events");
  if ("outcome" in told) return { finding: told };
  const { data, beside } = resultOf(told);
  const judged = await excuse(probe, operation, told, judge(operation, told, data));
  const finding: Finding = { ...judged, millis: told.millis, ...(told.millis > SLOW_MILLIS ? { isSlow: true } : {}) };
  if (judged.outcome !== "ok") return { finding };
  if (path.ssz !== "answer") return { finding, data, beside };
  const ssz = await askOrFail(probe, request, "ssz");
  if ("outcome" in ssz)
    return { finding: { ...finding, ssz: ssz.outcome, reason: `as SSZ, ${ssz.reason}` }, data, beside };
  const sszJudged = await excuse(probe, operation, ssz, judgeSsz(ssz));
  const reason = sszJudged.outcome === "ok" ? {} : { reason: `as SSZ, ${sszJudged.reason}` };
  return {
    finding: { ...finding, ...reason, ssz: sszJudged.outcome },
    data,
    beside,
    sszDigest: sszJudged.outcome === "ok" ? ssz.digest : undefined,
  };
}

async function askOrFail(
  probe: Probe,
  request: UpstreamRequest,
  form: Parameters<Probe["ask"]>[1],
): Promise<Told | Judged> {
  try {
    return await probe.ask(request, form);
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    return { outcome: "error", reason: error.message };
  }
}

function judge({ method, path, isOfEveryNode }: Operation, told: Told, data: unknown): Judged {
  const { status } = told;
  const byStatus = judgeStatus(told);
  // The status is the answer itself.
  if (method.resultOfStatus !== undefined && status === 503) return { outcome: "ok" };
  // Some clients, Prysm among them, want at least one item in a list.
  if (!isReadOnly(method.access)) {
    return status === 400 && byStatus.outcome === "refused" ? { ...byStatus, outcome: "declined" } : byStatus;
  }
  if (byStatus.outcome === "absent" && isOfEveryNode) {
    return { outcome: "error", reason: `${byStatus.reason}, though every beacon node has it` };
  }
  if (byStatus.outcome !== "ok" || method.resultOfStatus !== undefined) return byStatus;
  if (method.feed !== undefined) {
    return isOfForm(told, "events") ? byStatus : { outcome: "wrong-form", reason: "the answer is no stream of events" };
  }
  if (told.body === undefined) return byStatus;
  if (data === undefined) return { outcome: "wrong-form", reason: `${path.verb} is not answered by JSON` };
  const complaint = wrongForm(data, method.result.schema);
  return complaint === undefined ? byStatus : { outcome: "wrong-form", reason: complaint };
}

/** Downgrades a failure that the standard allows: of a retired path, of data that is not held, or while the node is not ready. */
async function excuse(probe: Probe, operation: Operation, { status }: Told, judged: Judged): Promise<Judged> {
  const { isRetired, isBlockData, isOfEveryNode } = operation;
  if (judged.outcome === "ok") return judged;
  if (isRetired || (isBlockData && DATA_NOT_HELD.has(status))) return { ...judged, outcome: "absent" };
  const isUnready = status === 503 && !isOfEveryNode && (await reportsUnready(probe));
  return isUnready ? { ...judged, outcome: "not-ready" } : judged;
}

/** Asks again at each 503, because a node may fall behind while it is asked for operations. */
async function reportsUnready(probe: Probe): Promise<boolean> {
  const told = await askOrFail(probe, { verb: "GET", url: "/eth/v1/node/syncing", headers: {} }, "json");
  if ("outcome" in told) return false;
  const { data } = resultOf(told);
  return ["is_syncing", "is_optimistic", "el_offline"].some((name) => memberOf(data, name) === true);
}

function judgeSsz(told: Told): Judged {
  const byStatus = judgeStatus(told);
  if (told.status === 406 || told.status === 415) return { ...byStatus, outcome: "absent" };
  if (byStatus.outcome !== "ok" || isOfForm(told, "ssz")) return byStatus;
  return { outcome: "absent", reason: `it answers ${told.mediaType || "something unnamed"}` };
}

function judgeStatus(told: Told): Judged {
  const { status } = told;
  if (status >= 200 && status < 300) return { outcome: "ok" };
  const reason = reasonOf(told);
  if (ABSENT.has(status) || lacksVersion(told)) return { outcome: "absent", reason };
  return { outcome: status >= 400 && status < 500 ? "refused" : "error", reason };
}

function reasonOf(told: Told): string {
  const { message } = (jsonOf(told) ?? {}) as { message?: unknown };
  const said = typeof message === "string" && message !== "" ? `: ${message.slice(0, LONGEST_REASON)}` : "";
  return `HTTP status ${told.status}${said}`;
}

/** What stands under `data` and beside it; some operations answer without either. */
function resultOf(told: Told): Pick<Found, "data" | "beside"> {
  const body = jsonOf(told);
  if (typeof body !== "object" || body === null || !("data" in body)) return { data: body };
  const beside = Object.entries(body).filter(([name]) => BESIDE.includes(name));
  return { data: body.data, beside: Object.fromEntries(beside) };
}
