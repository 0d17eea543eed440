import type { Timers } from "../../../async/timers.ts";
import { copyOutOfPool } from "../../../json/buffer-pool.ts";
import { ACCEPT_JSON, UpstreamError, type UpstreamResponse } from "../upstream-call.ts";
import type { UpstreamClient } from "./upstream-client.ts";

/** Larger than any response that the gateway itself reads. */
const MAX_BODY_BYTES = 1024 * 1024;

/** The part of an `UpstreamClient` that a request needs. */
export type RequestClient = Pick<UpstreamClient, "name" | "request">;

export interface FetchOptions {
  readonly timers: Pick<Timers, "sleep">;
  readonly timeoutMillis: number;
  readonly signal?: AbortSignal;
}

/** The upstream did not respond in time. */
export class UpstreamTimeoutError extends UpstreamError {}

/** The upstream responded with 404. */
export class NotFoundError extends UpstreamError {}

/** Fetches a path and returns the member `data`, unvalidated. Rejects with an `UpstreamError`. */
export async function fetchData(client: RequestClient, path: string, options: FetchOptions): Promise<unknown> {
  const body = await fetchBody(client, path, options);
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    if (typeof value === "object" && value !== null && "data" in value) return value.data;
  } catch {
    // Reported below.
  }
  throw invalidAnswer(client.name, path, 'something other than a JSON object with the member "data"');
}

/** Fetches the body of a 200 response. Rejects with an `UpstreamError` otherwise. */
export async function fetchBody(client: RequestClient, path: string, options: FetchOptions): Promise<Buffer> {
  const { timers, timeoutMillis, signal } = options;
  const done = new AbortController();
  const timedOut = new AbortController();
  timers.sleep(timeoutMillis, done.signal).then(
    () => timedOut.abort(),
    () => {},
  );
  const ends = signal ? AbortSignal.any([signal, timedOut.signal]) : timedOut.signal;
  try {
    const request = { verb: "GET", url: path, headers: ACCEPT_JSON } as const;
    const response = await client.request(request, { signal: ends });
    const body = await readFullBody(response, MAX_BODY_BYTES, ends);
    if (response.status === 200) return body;
    const kind = response.status === 404 ? NotFoundError : UpstreamError;
    throw invalidAnswer(client.name, path, `HTTP status ${response.status}`, kind);
  } catch (error) {
    if (!timedOut.signal.aborted) throw error;
    const message = `${client.name} did not answer ${path} within ${timeoutMillis / 1000} s.`;
    throw new UpstreamTimeoutError(client.name, message, { mayHaveArrived: true, cause: error });
  } finally {
    done.abort();
  }
}

/** Reads a whole body of up to `maxBytes`. Rejects with an `UpstreamError`, or with the reason of the signal. */
export async function readFullBody(
  { upstream, body }: Pick<UpstreamResponse, "upstream" | "body">,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Buffer> {
  if (Buffer.isBuffer(body)) return body;
  const bytes = await readBodyUpTo(body, maxBytes, signal);
  if (bytes.length <= maxBytes) return bytes;
  throw new UpstreamError(upstream, `${upstream} answered with more than ${maxBytes} bytes.`, { mayHaveArrived: true });
}

/** Reads a body and stops after the chunk that exceeds `maxBytes`. */
export async function readBodyUpTo(
  body: AsyncIterable<Buffer>,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Buffer> {
  const stop = () => discardBody({ body });
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      chunks.push(copyOutOfPool(chunk));
      bytes += chunk.length;
      if (bytes > maxBytes) break;
    }
    signal.throwIfAborted();
    return Buffer.concat(chunks, bytes);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function invalidAnswer(upstream: string, path: string, what: string, Kind = UpstreamError): UpstreamError {
  return new Kind(upstream, `${upstream} answered ${path} with ${what}.`, { mayHaveArrived: true });
}

/** Cancels a body that will not be read. */
export function discardBody({ body }: Pick<UpstreamResponse, "body">): void {
  if (!Buffer.isBuffer(body)) void body[Symbol.asyncIterator]().return?.();
}
