import type { Feed } from "../../server/events/feed.ts";
import type { Answer, Params } from "../../server/method-table.ts";
import { RequestToRoute } from "../../server/rest/request.ts";
import type { RestAnswer } from "../../server/rest/route-table.ts";
import type { ChainFacts } from "../chain-facts.ts";
import type { Condition, Conditions } from "../condition.ts";
import type { Question, UpstreamResponse } from "../exchange.ts";
import { createGatewayTables } from "./tables.ts";
export const FACTS: ChainFacts = {
  presetBase: "minimal",
  genesisValidatorsRoot: `0x${"00".repeat(32)}`,
  genesisTime: 1000,
  secondsPerSlot: 6,
  slotsPerEpoch: 8,
  forks: [
    { name: "phase0", epoch: 0 },
    { name: "deneb", epoch: 0 },
    { name: "electra", epoch: 2 },
    { name: "fulu", epoch: 4 },
  ],
};
export const ROOT = `0x${"11".repeat(32)}`;

export type Script = (question: Question) => Partial<Omit<UpstreamResponse, "body">> & { body?: unknown };

/** A gateway whose upstreams answer as told; what they are asked for is noted. */
export class ScriptedGateway {
  readonly asked: Question[] = [];
  readonly conditions: Condition[];
  readonly #tables;

  constructor(script: Script = () => ({ body: { data: true } }), upstreams = ["one"]) {
    this.conditions = upstreams.map((upstream) => ({ upstream, fitness: "ready", reasons: [], version: "1" }));
    const conditions: Conditions = {
      all: this.conditions,
      of: (upstream) => this.conditions.find((each) => each.upstream === upstream)!,
      onChange: () => () => {},
      floor: 0,
      raiseFloor: () => {},
      rewinds: 0,
    };
    const ask = async (question: Question): Promise<UpstreamResponse> => {
      this.asked.push(question);
      const { body = "", ...given } = script(question);
      const bytes = typeof body === "string" ? Buffer.from(body) : Buffer.from(JSON.stringify(body));
      const headers: UpstreamResponse["headers"] =
        typeof body === "string" ? {} : { "content-type": "application/json" };
      return { upstream: upstreams[0]!, status: 200, headers, body: bytes, ...given };
    };
    this.#tables = createGatewayTables({
      reads: { read: ask },
      upstreams: { submit: ask },
      conditions,
      events: { feed: (topics): Feed => ({ topics, open: () => () => {} }), revision: new Int32Array(2) },
      facts: FACTS,
      timers: { unixNow: () => (1000 + 6 * 33) * 1000 + 2500 },
    });
  }

  get requests() {
    return this.asked.map(({ request: { verb, url } }) => `${verb} ${url}`);
  }

  get names() {
    return Array.from(this.#tables.methods.entries(), ([name]) => name);
  }

  call(name: string, params: Params = []): Promise<Answer> {
    return this.#tables.methods.find(name)!.call(params);
  }

  async result(name: string, params: Params = []): Promise<unknown> {
    return JSON.parse(String((await this.call(name, params)).body));
  }

  /** A request to a path, with the placeholders and the rest of what HTTP would have found in it. */
  request(path: string, url: string, given: { headers?: Record<string, string>; body?: Buffer; sent?: string } = {}) {
    const verb = given.body ? "POST" : "GET";
    const route = this.#tables.routes.find((each) => each.path === path && each.verb === verb)!;
    const names = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name!);
    const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, "([^/]+)")}$`);
    const values = pattern.exec(url.split("?", 1)[0]!)!.slice(1).map(decodeURIComponent);
    const format = route.answers.length === 0 ? undefined : given.headers?.accept?.includes("octet") ? "ssz" : "json";
    return route.handle(
      new RequestToRoute(route, {
        params: Object.fromEntries(names.map((name, position) => [name, values[position]!])),
        url: given.sent ?? url,
        headers: given.headers ?? {},
        body: given.body,
        waiting: { signal: new AbortController().signal },
        format,
      }),
    );
  }
}

export function bodyOf({ content }: RestAnswer): string {
  return String(Buffer.concat(content!.parts as Buffer[]));
}
