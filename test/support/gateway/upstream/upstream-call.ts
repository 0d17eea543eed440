import type { MethodDefinition } from "../../../../src/api/definition.ts";
import type { UpstreamCall } from "../../../../src/gateway/upstream/upstream-call.ts";

interface CallOptions extends Partial<Pick<UpstreamCall, "params">> {
  url?: string;
  body?: Buffer;
  contentType?: string;
  method?: Partial<MethodDefinition>;
  signal?: AbortSignal;
}

/** Creates a cheap read that depends on nothing, by default. With a body it is a submission. */
export function createCall({
  url = "/eth/v1/x",
  body,
  contentType,
  method,
  params = {},
  signal,
}: CallOptions = {}): UpstreamCall {
  const headers: Record<string, string> = contentType === undefined ? {} : { "content-type": contentType };
  return {
    method: {
      name: "x",
      aliases: [],
      summary: "",
      params: [],
      restParams: [],
      result: { name: "x", schema: {} },
      failures: [],
      rest: [],
      cost: "cheap",
      access: body === undefined ? "read" : "submit",
      example: {},
      ...method,
    },
    request: body === undefined ? { verb: "GET", url, headers } : { verb: "POST", url, headers, body },
    params,
    format: "json",
    cancellation: { signal: signal ?? new AbortController().signal },
  };
}
