import { methods } from "../../../../src/api/method-groups.ts";
import type { ChainSpec } from "../../../../src/gateway/network/chain-spec.ts";
import type { UpstreamCall, UpstreamResponse } from "../../../../src/gateway/upstream/upstream-call.ts";
import type { Format } from "../../../../src/server/http/response/negotiation.ts";

export const CHAIN_SPEC: ChainSpec = {
  presetBase: "minimal",
  genesisValidatorsRoot: `0x${"ab".repeat(32)}`,
  genesisTime: 1_600_000_000,
  secondsPerSlot: 6,
  slotsPerEpoch: 8,
  forks: [{ name: "phase0", epoch: 0 }],
};

export const ROOT = `0x${"5a".repeat(32)}`;

interface QuestionOptions {
  format?: Format;
  body?: string;
  signal?: AbortSignal;
}

/** Creates a call of a method at its first path. */
export function methodCall(
  name: string,
  params: Record<string, string> = {},
  { format = "json", body, signal = new AbortController().signal }: QuestionOptions = {},
): UpstreamCall {
  const method = methods.find((each) => each.name === name || each.aliases.includes(name));
  if (method === undefined) throw new Error(`Unknown method "${name}".`);
  const verb = body === undefined ? "GET" : "POST";
  const { path } = method.rest.find((each) => each.verb === verb)!;
  return {
    method,
    request: {
      verb,
      url: path.replace(/\{(\w+)\}/g, (_, param: string) => params[param]!),
      headers: {},
      ...(body !== undefined && { body: Buffer.from(body) }),
    },
    params,
    format,
    cancellation: { signal },
  };
}

export function response(
  body: string | AsyncIterable<Buffer>,
  given: Partial<UpstreamResponse> = {},
): UpstreamResponse {
  return {
    upstream: "first",
    status: 200,
    headers: { "content-type": "application/json" },
    body: typeof body === "string" ? Buffer.from(body) : body,
    ...given,
  };
}

/** Body of a final answer. */
export const finalAnswer = (data: string) => `{"data":${data},"execution_optimistic":false,"finalized":true}`;
