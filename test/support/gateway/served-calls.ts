import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { toHex } from "@lodestar/utils";
import type { Topic } from "../../../src/api/event-stream.ts";
import { createGatewayTables } from "../../../src/gateway/calls/gateway-tables.ts";
import type { GatewayEvents } from "../../../src/gateway/events/gateway-events.ts";
import type { ChainSpec } from "../../../src/gateway/network/chain-spec.ts";
import {
  type UpstreamCall,
  UpstreamError,
  type UpstreamResponse,
} from "../../../src/gateway/upstream/upstream-call.ts";
import type { HealthTracker, UpstreamHealth } from "../../../src/gateway/upstream/upstream-health.ts";
import { createJsonRpcServer } from "../../../src/server/jsonrpc/server.ts";
import type { Params } from "../../../src/server/method-table.ts";
import { createRestServer } from "../../../src/server/rest/server.ts";
import type { ExampleDevChain } from "../api/example-chain.ts";
import { createRecordingLogger, type LogRecord } from "../log/recording-logger.ts";

export interface ServedCalls {
  restUrl: string;
  jsonRpcUrl: string;
  log: readonly LogRecord[];
  /** Makes a JSON-RPC call with metadata. */
  call(method: string, params: Params): Promise<unknown>;
  close(): Promise<void>;
}

/** Longer bodies are streamed. Small enough to cover both forms. */
const WHOLE_BELOW_BYTES = 4096;

/** Returns a fetch function for one upstream, without a cache. */
function fetchFrom(url: () => string, upstream: string) {
  return async ({ request, cancellation }: UpstreamCall): Promise<UpstreamResponse> => {
    const { verb, headers, body } = request;
    let response: Response;
    try {
      const init = { method: verb, headers, body: body && new Uint8Array(body), signal: cancellation.signal };
      response = await fetch(`${url()}${request.url}`, init);
    } catch (cause) {
      throw new UpstreamError(upstream, `The upstream ${upstream} cannot be reached.`, {
        mayHaveArrived: false,
        cause,
      });
    }
    const bytes = Buffer.from(await response.arrayBuffer());
    return {
      upstream,
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: bytes.length < WHOLE_BELOW_BYTES ? bytes : inPieces(bytes),
    };
  };
}

async function* inPieces(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 1500) yield bytes.subarray(at, at + 1500);
}

/** A gateway in front of one node, with its own servers and no cache. */
export async function serveCalls(chain: ExampleDevChain, upstreamUrl: () => string): Promise<ServedCalls> {
  const { config, clock } = chain.chain;
  const chainSpec: ChainSpec = {
    presetBase: "minimal",
    genesisValidatorsRoot: toHex(config.genesisValidatorsRoot),
    genesisTime: clock.genesisTime,
    secondsPerSlot: clock.secondsPerSlot,
    slotsPerEpoch: SLOTS_PER_EPOCH,
    forks: config.forksAscendingEpochOrder
      .filter(({ epoch }) => Number.isFinite(epoch))
      .map(({ name, epoch }) => ({ name, epoch })),
  };
  const all: UpstreamHealth[] = [{ upstream: "node", state: "ready", reasons: [], version: "Fanal/test" }];
  const health: HealthTracker = {
    all,
    of: (upstream) => all.find((each) => each.upstream === upstream)!,
    onChange: () => () => {},
    headFloor: 0,
    raiseHeadFloor: () => {},
    finalityReverts: 0,
  };
  const events: GatewayEvents = {
    feed: (topics) => chain.api.context.events.feed(topics as readonly Topic[]),
    revision: new Int32Array(2),
  };
  const ask = fetchFrom(upstreamUrl, "node");
  const tables = createGatewayTables({
    reader: { read: ask },
    upstreams: { submit: ask },
    health,
    events,
    chainSpec,
    timers: { unixNow: () => clock.nowSeconds() * 1000 },
  });
  const log: LogRecord[] = [];
  const logger = createRecordingLogger(log);
  const jsonRpc = createJsonRpcServer({ table: tables.methods, logger });
  const rest = createRestServer({ table: tables.routes, logger });
  const anywhere = { host: "127.0.0.1", port: 0 };
  const { url: jsonRpcUrl } = await jsonRpc.listen(anywhere);
  const { url: restUrl } = await rest.listen(anywhere);
  return {
    restUrl,
    jsonRpcUrl,
    log,
    async call(method, params) {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params, meta: true });
      const headers = { "Content-Type": "application/json" };
      return (await fetch(jsonRpcUrl, { method: "POST", headers, body })).json();
    },
    async close() {
      await Promise.all([jsonRpc.close(), rest.close()]);
    },
  };
}
