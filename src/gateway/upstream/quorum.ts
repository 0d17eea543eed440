import type { Timers } from "../../async/timers.ts";
import { type Failure, unavailable } from "../../errors/failure.ts";
import type { Question, UpstreamResponse } from "../exchange.ts";
import type { GatewayObserver } from "../observer.ts";
import { wholeBody } from "./ask.ts";
import type { Upstreams } from "./upstreams.ts";

/** The paths of what upstreams have to agree on: finality and roots. */
const AGREED_PATHS: readonly RegExp[] = [
  /^\/eth\/v\d+\/beacon\/genesis(?:\?|$)/,
  /^\/eth\/v\d+\/beacon\/states\/[^/]+\/(?:root|finality_checkpoints)(?:\?|$)/,
  /^\/eth\/v\d+\/beacon\/blocks\/[^/]+\/root(?:\?|$)/,
  /^\/eth\/v\d+\/beacon\/headers\/[^/]+$/,
];

/** Heads move and epochs turn a little earlier on one upstream than on another: it is asked again after these waits. */
const WAITS_MILLIS: readonly number[] = [100, 300, 900, 2000];
/** What one has and another has not yet comes sooner; after so many waits it has rather pruned it. */
const WAITS_FOR_MISSING = 2;

const MAX_BYTES = 64 * 1024;
const SHOWN_CHARACTERS = 300;

interface QuorumOptions {
  upstreams: Pick<Upstreams, "read" | "readFromSeveral">;
  /** How many have to agree. */
  count: number;
  timers: Pick<Timers, "sleep">;
  observer?: GatewayObserver;
}

/** What an upstream says of what is asked, comparable with what others say. */
interface Vote {
  readonly response: UpstreamResponse;
  readonly said: string;
}

/** Answers what is about finality and roots only when so many upstreams say the same, and passes on all other questions. */
export class Quorum {
  readonly #upstreams: Pick<Upstreams, "read" | "readFromSeveral">;
  readonly #count: number;
  readonly #timers: Pick<Timers, "sleep">;
  readonly #observer: GatewayObserver | undefined;

  constructor({ upstreams, count, timers, observer }: QuorumOptions) {
    this.#upstreams = upstreams;
    this.#count = count;
    this.#timers = timers;
    this.#observer = observer;
  }

  read(question: Question): Promise<UpstreamResponse> {
    if (this.#count <= 1 || !isAgreedOn(question)) return this.#upstreams.read(question);
    return this.#readAgreed(question);
  }

  async #readAgreed(question: Question): Promise<UpstreamResponse> {
    for (let round = 0; ; round++) {
      const outcome = await this.#ask(question);
      if ("status" in outcome) return outcome;
      const isMissing = outcome.some(({ response }) => response.status !== 200);
      const wait = isMissing && round >= WAITS_FOR_MISSING ? undefined : WAITS_MILLIS[round];
      if (wait === undefined) throw this.#disagreement(question, outcome);
      await this.#timers.sleep(wait, question.waiting.signal);
    }
  }

  /** The answer that all give, or two that differ. Throws when too few give any. */
  async #ask(question: Question): Promise<UpstreamResponse | [Vote, Vote]> {
    const results = await this.#upstreams.readFromSeveral(question, this.#count);
    const responses = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    const answers = responses.filter(({ status }) => status < 500);
    if (answers.length < this.#count) throw this.#tooFew(responses, results);
    // What nobody has is not there.
    if (answers.every(({ status }) => status !== 200)) return answers[0]!;
    const votes = await Promise.all(answers.map((response) => voteOf(response, question.waiting.signal)));
    const other = votes.find(({ said }) => said !== votes[0]!.said);
    return other === undefined ? votes[0]!.response : [votes[0]!, other];
  }

  #tooFew(responses: readonly UpstreamResponse[], results: readonly PromiseSettledResult<UpstreamResponse>[]): Failure {
    const each = responses.map(({ upstream, status }) => `${upstream} answered with the HTTP status ${status}.`);
    const failure = results.find((result) => result.status === "rejected")?.reason as Failure | undefined;
    const why = [...each, failure?.message ?? []].flat().join(" ");
    return unavailable(`Fewer upstreams than the ${this.#count} that have to agree can answer. ${why}`);
  }

  #disagreement({ method }: Question, votes: [Vote, Vote]): Failure {
    const names = votes.map(({ response }) => response.upstream);
    this.#observer?.disagreed(method.name, names);
    const each = votes.map(({ response, said }) => `${response.upstream} says ${shown(said)}.`);
    return unavailable(`The upstreams ${names.join(" and ")} do not agree. ${each.join(" ")}`);
  }
}

function isAgreedOn({ request: { verb, url } }: Question): boolean {
  return verb === "GET" && AGREED_PATHS.some((path) => path.test(url));
}

/** What stands beside `data`, such as whether the answer is final, may differ by a moment. */
async function voteOf(response: UpstreamResponse, signal: AbortSignal): Promise<Vote> {
  const body = await wholeBody(response, MAX_BYTES, signal);
  const whole = { ...response, body };
  if (response.status !== 200) return { response: whole, said: `nothing, but the HTTP status ${response.status}` };
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    return { response: whole, said: JSON.stringify((value as { data?: unknown } | null)?.data ?? value, inOrder) };
  } catch {
    // It is no JSON, or nested more deeply than can be written.
    return { response: whole, said: `0x${body.toString("hex")}` };
  }
}

/** Members may be written in any order. */
function inOrder(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function shown(said: string): string {
  return said.length > SHOWN_CHARACTERS ? `${said.slice(0, SHOWN_CHARACTERS)}…` : said;
}
