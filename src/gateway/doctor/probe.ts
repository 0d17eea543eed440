import { createHash } from "node:crypto";
import { keepBytes } from "../../json/buffer-pool.ts";
import {
  afterString,
  CLOSING_BRACE,
  CLOSING_BRACKET,
  OPENING_BRACE,
  OPENING_BRACKET,
  QUOTE,
} from "../../json/json-bytes.ts";
import { UpstreamError, type UpstreamRequest, type UpstreamResponse } from "../exchange.ts";
import { type Askable, discard } from "../upstream/ask.ts";

/** What an upstream answered, whatever its status. */
export interface Told {
  readonly status: number;
  /** Without parameters, in lower case. */
  readonly mediaType: string;
  /** Undefined when it is too large to be looked into. */
  readonly body: Buffer | undefined;
  /** Of the whole body: SHA-256 in hexadecimal digits. */
  readonly digest: string;
  readonly millis: number;
}

/** Larger answers are read to their end, but not kept. */
const LARGEST_KEPT_BYTES = 64 * 1024 * 1024;

const MEDIA_TYPES = { json: "application/json", ssz: "application/octet-stream", events: "text/event-stream" } as const;
export type Form = keyof typeof MEDIA_TYPES;

/** Asks one upstream, one thing after the other, and waits for none longer than it was told to. */
export class Probe {
  readonly client: Askable;
  readonly timeoutMillis: number;

  constructor(client: Askable, timeoutMillis: number) {
    this.client = client;
    this.timeoutMillis = timeoutMillis;
  }

  get upstream(): string {
    return this.client.name;
  }

  /** Throws an `UpstreamError` when there is no answer, or none to its end. Of a stream of events only the beginning is waited for. */
  async ask(request: UpstreamRequest, form: Form = "json"): Promise<Told> {
    const start = performance.now();
    const signal = AbortSignal.timeout(this.timeoutMillis);
    try {
      const headers = { ...request.headers, accept: MEDIA_TYPES[form] };
      const response = await this.client.request({ ...request, headers }, { signal });
      const isEndless = form === "events" && response.status === 200;
      if (isEndless) discard(response);
      const read = isEndless ? { body: undefined, digest: "" } : await readBody(response, signal);
      const mediaType = (response.headers["content-type"] ?? "").split(";", 1)[0]!.trim().toLowerCase();
      return { status: response.status, mediaType, ...read, millis: performance.now() - start };
    } catch (cause) {
      if (!signal.aborted) throw cause;
      const sentence = `${this.upstream} did not answer within ${this.timeoutMillis / 1000} seconds.`;
      throw new UpstreamError(this.upstream, sentence, { mayHaveArrived: true, cause });
    }
  }

  get(url: string): Promise<Told> {
    return this.ask({ verb: "GET", url, headers: {} });
  }
}

export function isOfForm({ mediaType }: Told, form: Form): boolean {
  return mediaType === MEDIA_TYPES[form];
}

/** Far deeper than anything of the standard, and not too deep to be walked through. */
const DEEPEST = 500;

/** The JSON of an answer; undefined when it is none, or is nested beyond all measure. */
export function jsonOf({ body }: Told): unknown {
  if (body === undefined || depthOf(body) > DEEPEST) return undefined;
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}

/** How deep arrays and objects are nested in the bytes of a JSON text. */
function depthOf(bytes: Buffer): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = (afterString(bytes, at) ?? bytes.length) - 1;
    else if (byte === OPENING_BRACKET || byte === OPENING_BRACE) deepest = Math.max(deepest, ++depth);
    else if (byte === CLOSING_BRACKET || byte === CLOSING_BRACE) depth--;
  }
  return deepest;
}

async function readBody(response: UpstreamResponse, signal: AbortSignal): Promise<Pick<Told, "body" | "digest">> {
  const { body } = response;
  const hash = createHash("sha256");
  let kept: Buffer[] | undefined = [];
  let bytes = 0;
  // One that does not go on is ended by nothing else.
  const stop = () => discard(response);
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  try {
    for await (const chunk of Buffer.isBuffer(body) ? [body] : body) {
      hash.update(chunk);
      bytes += chunk.length;
      if (bytes > LARGEST_KEPT_BYTES) kept = undefined;
      kept?.push(keepBytes(chunk));
    }
    signal.throwIfAborted();
  } finally {
    signal.removeEventListener("abort", stop);
  }
  return { body: kept && Buffer.concat(kept), digest: hash.digest("hex") };
}
