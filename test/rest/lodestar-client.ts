import { routes, WireFormat } from "@lodestar/api";
import { ForkName } from "@lodestar/params";
import { fromHex } from "@lodestar/utils";
import { expect } from "vitest";
import type { Entry } from "../../src/catalogue/entry.ts";
import { type Definition, requestTypes } from "../../src/catalogue/rest/definition.ts";
import { readRequest } from "../../src/catalogue/rest/read-request.ts";
import type { ConformanceChain } from "../conformance/conformance-chain.ts";
import type { RestCall } from "./rest-request.ts";
import type { ServedDoors } from "./served-doors.ts";

const FAMILIES = ["beacon", "lightclient", "validator", "node", "config", "debug"] as const;

interface ClientResponse {
  ok: boolean;
  status: number;
  wireFormat(): WireFormat | null;
  value(): unknown;
  meta(): unknown;
}

type ClientMethod = (...args: unknown[]) => Promise<ClientResponse>;

interface Twin {
  entry: Entry;
  call: RestCall;
  response: { result?: unknown; error?: { data: { status: number } } };
}

/** Asks for the same with the client of @lodestar/api, in JSON and in SSZ, if it knows the operation. */
export async function askTwin(doors: ServedDoors, chain: ConformanceChain, { entry, call, response }: Twin) {
  const found = find(chain, entry);
  // The client knows only metadata of the forks that have sync committees.
  if (!found || (found.name === "getNetworkIdentity" && chain.fork === ForkName.phase0)) return;
  const { family, name, definition } = found;
  const client = doors.client[family] as unknown as Record<string, ClientMethod>;
  // A form that a fork does not have cannot be sent.
  if (response.error?.data.status === 501) return;
  const args = argsOf(chain, found, call);
  const hasArgs = Object.keys(definition.req.schema).length > 0;
  const { req, resp } = definition;
  const formats = [WireFormat.json, WireFormat.ssz];
  const requestFormats = req.parseReq || req.onlySupport ? [WireFormat.json] : formats;
  const responseFormats = resp.onlySupport || resp.isEmpty ? [WireFormat.json] : formats;
  for (const requestWireFormat of requestFormats) {
    for (const responseWireFormat of responseFormats) {
      const init = { requestWireFormat, responseWireFormat, retries: 0 };
      const given = await (hasArgs ? client[name]!(args, init) : client[name]!(init));
      if (response.error) {
        expect(given.status).toBe(response.error.data.status);
        continue;
      }
      expect(given.ok, `${name} ${requestWireFormat} ${responseWireFormat}`).toBe(true);
      if (resp.isEmpty) continue;
      expect(given.wireFormat()).toBe(responseWireFormat);
      const data = resp.data.toJson(given.value(), given.meta());
      const body = resp.transform?.toResponse(data, resp.meta.toJson(given.meta())) ?? { data };
      const shown = typeof body === "object" && body !== null && "data" in body ? body.data : body;
      expect(shown).toEqual(response.result);
    }
  }
}

interface Found {
  family: (typeof FAMILIES)[number];
  name: string;
  definition: Definition;
}

function find({ api }: ConformanceChain, { rest }: Entry): Found | undefined {
  for (const family of FAMILIES) {
    const definitions = routes[family].getDefinitions(api.chainConfig) as unknown as Record<string, Definition>;
    for (const [name, definition] of Object.entries(definitions)) {
      if (definition.method === rest?.verb && definition.url === rest.path) return { family, name, definition };
    }
  }
  return undefined;
}

/** What the client must be given to send such a request. */
function argsOf(chain: ConformanceChain, { name, definition }: Found, { path, headers, body }: RestCall): unknown {
  const [, query = ""] = path.split("?");
  const pattern = new RegExp(`^${definition.url.replaceAll(/\{(\w+)\}/g, "(?<$1>[^/?]+)")}(?:\\?|$)`);
  const params = { ...pattern.exec(path)?.groups };
  for (const key in params) params[key] = decodeURIComponent(params[key]!);
  const lowerCase = Object.fromEntries(Object.entries(headers).map(([key, value]) => [key.toLowerCase(), value]));
  const request = {
    params,
    query,
    headers: lowerCase,
    body: body === undefined ? undefined : Buffer.from(body),
    format: "json" as const,
    bodyFormat: "json" as const,
  };
  const { args } = readRequest(name, definition, requestTypes(definition), request);
  if (name === "produceBlockV3") return withText(args as { graffiti: Uint8Array });
  return name.endsWith("Duties") ? withIndices(chain, args as { indices?: (number | string)[] }) : args;
}

/** The client knows validators by their indices only. */
function withIndices({ chain }: ConformanceChain, args: { indices?: (number | string)[] }) {
  const { pubkeyCache } = chain.headState.epochCtx;
  const indices = args.indices?.map((id) => (typeof id === "number" ? id : pubkeyCache.getIndex(fromHex(id))));
  return { ...args, indices };
}

/** The client knows graffiti as text. */
function withText(args: { graffiti: Uint8Array }) {
  return { ...args, graffiti: Buffer.from(args.graffiti).toString().replace(/\0+$/, "") };
}
