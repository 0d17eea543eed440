import type { Timers } from "../../../async/timers.ts";
import { type Failure, unavailable } from "../../../errors/failure.ts";
import { truncate } from "../../../errors/truncate.ts";
import { diffJson } from "../../../json/diff.ts";
import type { GatewayObserver } from "../../metrics/gateway-observer.ts";
import type { GatewaySettings } from "../../settings.ts";
import { readFullBody } from "../client/fetch.ts";
import type { UpstreamCall, UpstreamResponse } from "../upstream-call.ts";
import type { UpstreamPool } from "./upstream-pool.ts";

/** Paths of quorum reads: finality and roots. */
const QUORUM_PATHS: readonly RegExp[] = [
  /^\/eth\/v\d+\/beacon\/genesis(?:\?|$)/,
  /^\/eth\/v\d+\/beacon\/states\/[^/]+\/(?:root|finality_checkpoints)(?:\?|$)/,
  /^\/eth\/v\d+\/beacon\/blocks\/[^/]+\/root(?:\?|$)/,
  /^\/eth\/v\d+\/beacon\/headers\/[^/]+$/,
];

/** Delays before a retry. Upstreams update their heads and epochs at slightly different times. */
const RETRY_DELAYS_MILLIS: readonly number[] = [100, 300, 900, 2000];
/** New blocks arrive sooner. A block that is missing after this many retries has probably been pruned. */
const MAX_RETRIES_IF_MISSING = 2;

const MAX_BYTES = 64 * 1024;
/** Bounds the error about a disagreement. */
const MAX_SHOWN_DIFFERENCES = 5;
const MAX_SHOWN_CHARACTERS = 100;

interface QuorumReaderOptions {
  upstreams: Pick<UpstreamPool, "read" | "readFromMany">;
  /** Number of upstreams that must agree. */
  settings: Pick<GatewaySettings, "quorum">;
  timers: Pick<Timers, "sleep">;
  observer?: GatewayObserver;
}

/** The answer of one upstream, in a comparable form. */
interface Vote {
  readonly response: UpstreamResponse;
  readonly value: string;
  /** Undefined if the answer is not JSON. */
  readonly data?: unknown;
  /** The whole answer, if it is a JSON object. */
  readonly json?: Json;
}

type Json = Readonly<Record<string, unknown>>;

/** Reads finality and roots from several upstreams and requires that they agree. Forwards all other calls. */
export class QuorumReader {
  readonly #upstreams: Pick<UpstreamPool, "read" | "readFromMany">;
  readonly #count: number;
  readonly #timers: Pick<Timers, "sleep">;
  readonly #observer: GatewayObserver | undefined;

  constructor({ upstreams, settings, timers, observer }: QuorumReaderOptions) {
    this.#upstreams = upstreams;
    this.#count = settings.quorum;
    this.#timers = timers;
    this.#observer = observer;
  }

  read(call: UpstreamCall): Promise<UpstreamResponse> {
    if (this.#countOf(call) <= 1 || !needsQuorum(call)) return this.#upstreams.read(call);
    return this.#readWithQuorum(call);
  }

  #countOf({ policy }: UpstreamCall): number {
    return policy?.quorum ?? this.#count;
  }

  async #readWithQuorum(call: UpstreamCall): Promise<UpstreamResponse> {
    for (let round = 0; ; round++) {
      const outcome = await this.#readOnce(call);
      if ("status" in outcome) return outcome;
      const isMissing = outcome.some(({ response }) => response.status !== 200);
      const wait = isMissing && round >= MAX_RETRIES_IF_MISSING ? undefined : RETRY_DELAYS_MILLIS[round];
      if (wait === undefined) throw this.#disagreement(call, outcome);
      await this.#timers.sleep(wait, call.cancellation.signal);
    }
  }

  /** Returns the common response, or two that differ. Throws if too few upstreams answer. */
  async #readOnce(call: UpstreamCall): Promise<UpstreamResponse | [Vote, Vote]> {
    const count = this.#countOf(call);
    const results = await this.#upstreams.readFromMany(call, count);
    const responses = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    const answers = responses.filter(({ status }) => status < 500);
    if (answers.length < count) throw tooFewAnswers(call, count, responses, results);
    // No upstream has the object.
    if (answers.every(({ status }) => status !== 200)) return answers[0]!;
    const votes = await Promise.all(answers.map((response) => voteOf(response, call.cancellation.signal)));
    const other = votes.find(({ value }) => value !== votes[0]!.value);
    return other === undefined ? withLeastFinality(votes) : [votes[0]!, other];
  }

  #disagreement(call: UpstreamCall, votes: [Vote, Vote]): Failure {
    const names = votes.map(({ response }) => response.upstream);
    this.#observer?.onDisagreement(call.method.name, names);
    return unavailable(
      `Upstreams ${names.join(" and ")} disagree on ${describeCall(call)}: ${describeDifference(...votes)}. ` +
        "Compare them with `fanal doctor`.",
    );
  }
}

/** Creates the failure of a quorum read with fewer than `count` answers. */
function tooFewAnswers(
  call: UpstreamCall,
  count: number,
  responses: readonly UpstreamResponse[],
  results: readonly PromiseSettledResult<UpstreamResponse>[],
): Failure {
  const each = responses.map(
    ({ upstream, status }) => `${upstream} answered${status === 200 ? "" : ` with HTTP status ${status}`}.`,
  );
  const failure = results.find((result) => result.status === "rejected")?.reason as Failure | undefined;
  const why = [...each, failure?.message ?? []].flat().join(" ");
  return unavailable(`The quorum requires ${count} answers to ${describeCall(call)}. ${why}`);
}

/** Returns the method and the parameters of a call, such as `get_v1_beacon_blocks_root with block_id "7"`. */
function describeCall({ method, params }: UpstreamCall): string {
  const each = Object.entries(params).flatMap(([name, value]) =>
    value === undefined ? [] : `${name} ${truncate(JSON.stringify(value), MAX_SHOWN_CHARACTERS)}`,
  );
  return each.length === 0 ? method.name : `${method.name} with ${each.join(" and ")}`;
}

/** Names the differing members with the value of each upstream. */
function describeDifference(one: Vote, other: Vote): string {
  const [first, second] = [one.response.upstream, other.response.upstream];
  const [status, otherStatus] = [one.response.status, other.response.status];
  if (status !== otherStatus) return `${first} answers with HTTP status ${status}, ${second} with ${otherStatus}`;
  const differences = one.data === undefined || other.data === undefined ? [] : [...diffJson(one.data, other.data)];
  if (differences.length === 0) return `their bodies differ (${first} sent ${sizeOf(one)}, ${second} ${sizeOf(other)})`;
  const shown = differences
    .slice(0, MAX_SHOWN_DIFFERENCES)
    .map((each) => `${each.path} is ${show(each.first)} on ${first} and ${show(each.second)} on ${second}`);
  const more = differences.length - shown.length;
  return [...shown, more > 0 ? `${more} more members differ` : []].flat().join("; ");
}

const sizeOf = ({ response: { body } }: Vote): string => `${Buffer.isBuffer(body) ? body.length : 0} bytes`;

const show = (value: unknown): string =>
  value === undefined ? "missing" : truncate(JSON.stringify(value), MAX_SHOWN_CHARACTERS);

function needsQuorum({ request: { verb, url }, policy }: UpstreamCall): boolean {
  if (policy?.quorum !== undefined) return verb === "GET";
  return verb === "GET" && QUORUM_PATHS.some((path) => path.test(url));
}

/** Compares only `data`. Metadata such as `finalized` may differ for a moment. */
async function voteOf(response: UpstreamResponse, signal: AbortSignal): Promise<Vote> {
  const body = await readFullBody(response, MAX_BYTES, signal);
  const buffered = { ...response, body };
  if (response.status !== 200) return { response: buffered, value: `HTTP status ${response.status}` };
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    const json = typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
    const data = json?.data ?? value;
    return { response: buffered, value: JSON.stringify(data, sortKeys), data, json };
  } catch {
    // Not JSON, or nested too deeply to be written.
    return { response: buffered, value: `0x${body.toString("hex")}` };
  }
}

/** Returns the first answer. It is `finalized` only if all answers are, and `execution_optimistic` if any is. */
function withLeastFinality(votes: readonly Vote[]): UpstreamResponse {
  const { response, json } = votes[0]!;
  const answers = votes.map((vote) => vote.json ?? {});
  const isFinalized = answers.every(({ finalized }) => finalized === true);
  const isOptimistic = answers.some((answer) => answer.execution_optimistic === true);
  if (json === undefined) return response;
  const { finalized = false, execution_optimistic: optimistic = false } = json;
  if (finalized === isFinalized && optimistic === isOptimistic) return response;
  const body = { ...json, finalized: isFinalized, execution_optimistic: isOptimistic };
  const headers = Object.fromEntries(Object.entries(response.headers).filter(([name]) => !OF_BODY.test(name)));
  return { ...response, headers, body: Buffer.from(JSON.stringify(body)) };
}

/** Headers that repeat or depend on the body. */
const OF_BODY = /^(?:content-length|etag|cache-control|eth-consensus-finalized|eth-execution-optimistic)$/;

/** Makes JSON independent of the order of members. */
function sortKeys(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
