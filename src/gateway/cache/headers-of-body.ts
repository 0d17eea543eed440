import type { UpstreamResponse } from "../exchange.ts";

const NAMES = ["content-type", "cache-control", "etag"];

/** The headers that belong to the body of an answer, whoever gets it. */
export function headersOfBody(headers: UpstreamResponse["headers"]): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => NAMES.includes(name) || name.startsWith("eth-")),
  );
}
