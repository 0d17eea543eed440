import { createGatewayTables } from "../../../../src/gateway/calls/gateway-tables.ts";
import type { ChainSpec } from "../../../../src/gateway/network/chain-spec.ts";
import type { UpstreamCall, UpstreamResponse } from "../../../../src/gateway/upstream/upstream-call.ts";
import type { HealthTracker, UpstreamHealth } from "../../../../src/gateway/upstream/upstream-health.ts";
import type { Feed } from "../../../../src/server/events/feed.ts";
import type { MethodResponse, Params } from "../../../../src/server/method-table.ts";
import type { RestResponse } from "../../../../src/server/rest/route-table.ts";
export const CHAIN_SPEC: ChainSpec = {
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

export type Script = (call: UpstreamCall) => Partial<Omit<UpstreamResponse, "body">> & { body?: unknown };

/** A gateway with scripted upstreams. Records all calls. */
export class ScriptedGateway {
  readonly asked: UpstreamCall[] = [];
  readonly health: UpstreamHealth[];
  readonly #tables;

  constructor(script: Script = () => ({ body: { data: true } }), upstreams = ["one"], quorum = 1) {
    this.health = upstreams.map((upstream) => ({ upstream, state: "ready", reasons: [], version: "1" }));
    const health: HealthTracker = {
      all: this.health,
      of: (upstream) => this.health.find((each) => each.upstream === upstream)!,
      onChange: () => () => {},
      headFloor: 0,
      raiseHeadFloor: () => {},
      finalityReverts: 0,
    };
    const ask = async (call: UpstreamCall): Promise<UpstreamResponse> => {
      this.asked.push(call);
      const { body = "", ...given } = script(call);
      const bytes = typeof body === "string" ? Buffer.from(body) : Buffer.from(JSON.stringify(body));
      const headers: UpstreamResponse["headers"] =
        typeof body === "string" ? {} : { "content-type": "application/json" };
      return { upstream: upstreams[0]!, status: 200, headers, body: bytes, ...given };
    };
    this.#tables = createGatewayTables({
      reader: { read: ask },
      upstreams: { submit: ask },
      health,
      quorum: () => quorum,
      events: { feed: (topics): Feed => ({ topics, open: () => () => {} }), revision: new Int32Array(2) },
      chainSpec: CHAIN_SPEC,
      timers: { unixNow: () => (1000 + 6 * 33) * 1000 + 2500 },
    });
  }

  get requests() {
    return this.asked.map(({ request: { verb, url } }) => `${verb} ${url}`);
  }

  get names() {
    return Array.from(this.#tables.methods.entries(), ([name]) => name);
  }

  async call(name: string, params: Params = []): Promise<MethodResponse> {
    return this.#tables.methods.find(name)!.call(params);
  }

  async result(name: string, params: Params = []): Promise<unknown> {
    return JSON.parse(String((await this.call(name, params)).body));
  }

  /** Sends a REST request to a route. */
  request(path: string, url: string, given: { headers?: Record<string, string>; body?: Buffer; sent?: string } = {}) {
    const verb = given.body ? "POST" : "GET";
    const route = this.#tables.routes.find((each) => each.path === path && each.verb === verb)!;
    const names = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name!);
    const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, "([^/]+)")}$`);
    const values = pattern.exec(url.split("?", 1)[0]!)!.slice(1).map(decodeURIComponent);
    const format =
      route.responseFormats.length === 0 ? undefined : given.headers?.accept?.includes("octet") ? "ssz" : "json";
    return route.handle({
      params: Object.fromEntries(names.map((name, position) => [name, values[position]!])),
      url: given.sent ?? url,
      headers: given.headers ?? {},
      body: given.body,
      cancellation: { signal: new AbortController().signal },
      format,
    });
  }
}

export function bodyOf({ content }: RestResponse): string {
  return String(Buffer.concat(content!.parts as Buffer[]));
}
