import { getClient, WireFormat } from "@lodestar/api";
import { ForkName } from "@lodestar/params";
import { fromHex, toHex } from "@lodestar/utils";
import { expect } from "vitest";
import { codecOf, type Family, type RouteCodec } from "../../src/api/codecs.ts";
import { createCodecs } from "../../src/api/create-codecs.ts";
import type { MethodDefinition } from "../../src/api/definition.ts";
import { RequestParser } from "../../src/api/rest/request.ts";
import type { RestRequest } from "../../src/server/rest/route-table.ts";
import type { ExampleDevChain } from "../support/api/example-chain.ts";
import type { ServedApi } from "../support/api/served-api.ts";
import type { RestCall } from "./rest-request.ts";

interface ClientResponse {
  ok: boolean;
  status: number;
  wireFormat(): WireFormat | null;
  value(): unknown;
  meta(): unknown;
}

type ClientMethod = (...args: unknown[]) => Promise<ClientResponse>;

interface Twin {
  method: MethodDefinition;
  call: RestCall;
  response: { result?: unknown; error?: { data: { status: number } } };
}

/** Operations whose objects the client cannot write for earlier forks. */
const OF_GLOAS = ["publishExecutionPayloadEnvelope", "publishExecutionPayloadBid"];

/** Operations whose blocks are never blinded since gloas. */
const BLINDED = ["publishBlindedBlockV2", "getBlindedBlock"];

/** Sends the same request with the client of @lodestar/api, as JSON and SSZ, if it supports the operation. */
export async function askTwin(served: ServedApi, chain: ExampleDevChain, { method, call, response }: Twin) {
  if (method.operation === undefined) return;
  const [family, name] = method.operation.split(".") as [Family, string];
  // The client only supports metadata of forks with sync committees.
  if (name === "getNetworkIdentity" && chain.fork === ForkName.phase0) return;
  // It cannot send unsupported formats: of future forks, and blinded blocks without a payload.
  if (response.error?.data.status === 501) return;
  if (name === "publishBlindedBlockV2" && chain.fork === ForkName.phase0) return;
  if (OF_GLOAS.includes(name) && chain.fork !== ForkName.gloas) return;
  if (BLINDED.includes(name) && chain.fork === ForkName.gloas) return;
  const clients = getClient({ baseUrl: served.restUrl }, { config: chain.api.chainConfig });
  const client = clients[family] as unknown as Record<string, ClientMethod>;
  const args = await argsOf(served, chain, name, method, call);
  const { req, resp } = codecOf(createCodecs(chain.api.chainConfig), method.operation) as RouteCodec & {
    req: { schema: object };
  };
  const hasArgs = Object.keys(req.schema).length > 0;
  const formats = [WireFormat.json, WireFormat.ssz];
  // The node has no SSZ where only the library has it.
  const formatsOf = (what: string) => (method.rest[0]!.ssz === what ? formats : [WireFormat.json]);
  const requestFormats = formatsOf("body");
  const responseFormats = formatsOf("response");
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
      expect(given.wireFormat()).toBe(method.rest[0]!.prefersJson ? WireFormat.json : responseWireFormat);
      const data = resp.data.toJson(given.value(), given.meta());
      const body = resp.transform?.toResponse(data, resp.meta.toJson(given.meta())) ?? { data };
      const shown = typeof body === "object" && body !== null && "data" in body ? body.data : body;
      expect(shown).toEqual(response.result);
    }
  }
}

/** Arguments of the client for a request. Handler arguments have the same names. */
async function argsOf(
  { methods }: ServedApi,
  chain: ExampleDevChain,
  name: string,
  method: MethodDefinition,
  { path, headers, body }: RestCall,
): Promise<unknown> {
  const [rest] = method.rest;
  const pattern = new RegExp(`^${rest!.path.replaceAll(/\{(\w+)\}/g, "(?<$1>[^/?]+)")}(?:\\?|$)`);
  const params = { ...pattern.exec(path)?.groups };
  for (const key in params) params[key] = decodeURIComponent(params[key]!);
  const lowerCase = Object.fromEntries(Object.entries(headers).map(([key, value]) => [key.toLowerCase(), value]));
  const { restParams } = methods.all.find(({ name }) => name === method.name)!;
  const reader = new RequestParser(restParams, rest!);
  const request = { params, url: path, headers: lowerCase } as unknown as RestRequest;
  const args = await reader.args(request, body === undefined ? reader.bodyParam?.defaultBody : JSON.parse(body));
  for (const key of ["attestationDataRoot", "beaconBlockRoot"]) {
    if (typeof args[key] === "string") args[key] = fromHex(args[key]);
  }
  if (name === "prepareBeaconProposer") return withHexRecipients(args as unknown as Preparations);
  if (name === "produceBlockV3" || name === "produceBlockV4") return withText(args as { graffiti: Uint8Array });
  if (name === "getStateBuilders") return withBuilderFilter(args as unknown as { filter: { ids: unknown } });
  if (name === "postStateValidators") return withFilter(args as { filter: { ids: unknown; statuses: unknown } });
  return name.endsWith("Duties") ? withIndices(chain, args as { indices?: (number | string)[] }) : args;
}

/** The client accepts only validator indices. */
function withIndices({ chain }: ExampleDevChain, args: { indices?: (number | string)[] }) {
  const { pubkeyCache } = chain.headState.epochCtx;
  const indices = args.indices?.map((id) => (typeof id === "number" ? id : pubkeyCache.getIndex(fromHex(id))));
  return { ...args, indices };
}

/** The client accepts graffiti as text. */
function withText(args: { graffiti: Uint8Array }) {
  return { ...args, graffiti: Buffer.from(args.graffiti).toString().replace(/\0+$/, "") };
}

interface Preparations {
  proposers: { validatorIndex: number; feeRecipient: Uint8Array }[];
}

function withHexRecipients({ proposers }: Preparations) {
  return { proposers: proposers.map((each) => ({ ...each, feeRecipient: toHex(each.feeRecipient) })) };
}

function withBuilderFilter({ filter, ...args }: { filter: { ids: unknown } }) {
  return { ...args, ...filter, builderIds: filter.ids };
}

function withFilter({ filter, ...args }: { filter: { ids: unknown; statuses: unknown } }) {
  return { ...args, validatorIds: filter.ids, statuses: filter.statuses };
}
