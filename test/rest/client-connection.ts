import { type ApiClient, getClient, WireFormat } from "@lodestar/api";
import { type BeaconConfig, chainConfigFromJson, createBeaconConfig, createChainForkConfig } from "@lodestar/config";
import type { Slot } from "@lodestar/types";

/** The client of @lodestar/api before a node that it learns everything from: the config as well as the chain. */
export interface Connection {
  config: BeaconConfig;
  /** The client for the slot: the slots take turns in speaking JSON and SSZ. */
  clientAt(slot: Slot): ApiClient;
  /** Every kind of request that a node has answered well: what was asked, and the format in which it was sent or answered. */
  answered: ReadonlySet<string>;
}

export async function connect(baseUrl: string): Promise<Connection> {
  // What is asked first has the same form in every fork.
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

/** The client goes back to JSON in silence when a node refuses SSZ, so only the requests themselves tell what was used. */
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
