import type { Method } from "../../api/definition.ts";
import type { Question } from "../exchange.ts";

interface Asked extends Partial<Pick<Question, "params">> {
  url?: string;
  body?: Buffer;
  contentType?: string;
  method?: Partial<Method>;
  signal?: AbortSignal;
}

/** A read of something that nothing depends on, unless something else is said; with a body it is a submission. */
export function questionOf({
  url = "/eth/v1/x",
  body,
  contentType,
  method,
  params = {},
  signal,
}: Asked = {}): Question {
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
    waiting: { signal: signal ?? new AbortController().signal },
  };
}
