import { type ApiClient, getClient, WireFormat } from "@lodestar/api";
import { type BeaconConfig, chainConfigFromJson, createBeaconConfig, createChainForkConfig } from "@lodestar/config";
import type { Slot } from "@lodestar/types";

/** The client of @lodestar/api, configured entirely from the node. */
export interface Connection {
  config: BeaconConfig;
  /** The client of a slot: slots alternate between JSON and SSZ. */
  clientAt(slot: Slot): ApiClient;
  /** Successful requests by operation and format. */
  answered: ReadonlySet<string>;
}

export async function connect(baseUrl: string): Promise<Connection> {
  // The first requests have the same format in every fork.
  const stranger = getClient({ baseUrl }, { config: createChainForkConfig({}) });
  const spec = (await stranger.config.getSpec()).value();
  const { genesisValidatorsRoot } = (await stranger.beacon.getGenesis()).value();
  const config = createBeaconConfig(chainConfigFromJson(spec), genesisValidatorsRoot);
  const answered = new Set<string>();
  const clientOf = (format: WireFormat) => {
    const globalInit = { requestWireFormat: format, responseWireFormat: format, retries: 0 };
    return getClient({ baseUrl, globalInit, fetch: recordingFetch(answered) }, { config });
  };
  const json = clientOf(WireFormat.json);
  const ssz = clientOf(WireFormat.ssz);
  return { config, answered, clientAt: (slot) => (slot % 2 === 0 ? json : ssz) };
}

/** The client silently falls back to JSON if a node rejects SSZ, so the requests are recorded. */
function recordingFetch(answered: Set<string>): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const path = new URL(String(input)).pathname.replaceAll(/\/\d+(?=\/|$)/g, "/{n}");
    const verb = init?.method ?? "GET";
    const headers = verb === "GET" ? response.headers : new Headers(init?.headers);
    const format = headers.get("content-type")?.includes("octet-stream") ? "ssz" : "json";
    if (response.ok) answered.add(`${verb} ${path} ${format}`);
    return response;
  };
}
