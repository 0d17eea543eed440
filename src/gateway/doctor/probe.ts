import { createHash } from "node:crypto";
import { copyOutOfPool } from "../../json/buffer-pool.ts";
import {
  CLOSING_BRACE,
  CLOSING_BRACKET,
  endOfString,
  OPENING_BRACE,
  OPENING_BRACKET,
  QUOTE,
} from "../../json/value-bounds.ts";
import { discardBody, type RequestClient } from "../upstream/client/fetch.ts";
import { UpstreamError, type UpstreamRequest, type UpstreamResponse } from "../upstream/upstream-call.ts";

/** A complete response with any status. */
export interface ProbeResponse {
  readonly status: number;
  /** Lowercase, without parameters. */
  readonly mediaType: string;
  /** Undefined if too large to parse. */
  readonly body: Buffer | undefined;
  /** Hex SHA-256 of the whole body. */
  readonly digest: string;
  readonly millis: number;
}

/** Larger bodies are hashed but not kept. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024;

const MEDIA_TYPES = { json: "application/json", ssz: "application/octet-stream", events: "text/event-stream" } as const;
export type ResponseFormat = keyof typeof MEDIA_TYPES;

/** Sends requests to one upstream with a timeout. */
export class Probe {
  readonly client: RequestClient;
  readonly timeoutMillis: number;

  constructor(client: RequestClient, timeoutMillis: number) {
    this.client = client;
    this.timeoutMillis = timeoutMillis;
  }

  get upstream(): string {
    return this.client.name;
  }

  /** Throws an `UpstreamError` if there is no complete response. Of an event stream, only the headers are awaited. */
  async request(request: UpstreamRequest, format: ResponseFormat = "json"): Promise<ProbeResponse> {
    const start = performance.now();
    const signal = AbortSignal.timeout(this.timeoutMillis);
    try {
      const headers = { ...request.headers, accept: MEDIA_TYPES[format] };
      const response = await this.client.request({ ...request, headers }, { signal });
      const isEndless = format === "events" && response.status === 200;
      if (isEndless) discardBody(response);
      const read = isEndless ? { body: undefined, digest: "" } : await readBody(response, signal);
      const mediaType = (response.headers["content-type"] ?? "").split(";", 1)[0]!.trim().toLowerCase();
      return { status: response.status, mediaType, ...read, millis: performance.now() - start };
    } catch (cause) {
      if (!signal.aborted) throw cause;
      const sentence = `${this.upstream} did not answer within ${this.timeoutMillis / 1000} seconds.`;
      throw new UpstreamError(this.upstream, sentence, { mayHaveArrived: true, cause });
    }
  }

  get(url: string): Promise<ProbeResponse> {
    return this.request({ verb: "GET", url, headers: {} });
  }
}

export function hasFormat({ mediaType }: ProbeResponse, format: ResponseFormat): boolean {
  return mediaType === MEDIA_TYPES[format];
}

/** Far deeper than any answer, and safe for recursion. */
const MAX_JSON_DEPTH = 500;

/** Parses the body. Returns undefined if it is invalid or nested too deeply. */
export function parseJson({ body }: ProbeResponse): unknown {
  if (body === undefined || depthOf(body) > MAX_JSON_DEPTH) return undefined;
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}

/** Returns the nesting depth of JSON bytes. */
function depthOf(bytes: Buffer): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = (endOfString(bytes, at) ?? bytes.length) - 1;
    else if (byte === OPENING_BRACKET || byte === OPENING_BRACE) deepest = Math.max(deepest, ++depth);
    else if (byte === CLOSING_BRACKET || byte === CLOSING_BRACE) depth--;
  }
  return deepest;
}

async function readBody(
  response: UpstreamResponse,
  signal: AbortSignal,
): Promise<Pick<ProbeResponse, "body" | "digest">> {
  const { body } = response;
  const hash = createHash("sha256");
  let chunks: Buffer[] | undefined = [];
  let bytes = 0;
  // Ends a body that stalls.
  const stop = () => discardBody(response);
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  try {
    for await (const chunk of Buffer.isBuffer(body) ? [body] : body) {
      hash.update(chunk);
      bytes += chunk.length;
      if (bytes > MAX_KEPT_BYTES) chunks = undefined;
      chunks?.push(copyOutOfPool(chunk));
    }
    signal.throwIfAborted();
  } finally {
    signal.removeEventListener("abort", stop);
  }
  return { body: chunks && Buffer.concat(chunks), digest: hash.digest("hex") };
}
