import type { Timers } from "../../async/timers.ts";
import { keepBytes } from "../../json/buffer-pool.ts";
import { ASKS_FOR_JSON, UpstreamError, type UpstreamResponse } from "../exchange.ts";
import type { UpstreamClient } from "./upstream-client.ts";

/** Beyond all that the gateway reads itself. */
const MAX_BYTES = 1024 * 1024;

/** What of a client is needed to ask an upstream something that is read here. */
export type Askable = Pick<UpstreamClient, "name" | "request">;

export interface AskOptions {
  readonly timers: Pick<Timers, "sleep">;
  readonly timeoutMillis: number;
  readonly signal?: AbortSignal;
}

/** The upstream did not answer in time. */
export class LateError extends UpstreamError {}

/** The upstream has no such thing. */
export class MissingError extends UpstreamError {}

/** The value of `data` in the upstream's answer, of which nothing is known yet. Rejects with an `UpstreamError`. */
export async function askForData(client: Askable, path: string, options: AskOptions): Promise<unknown> {
  const body = await askForBody(client, path, options);
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    if (typeof value === "object" && value !== null && "data" in value) return value.data;
  } catch {
    // It is said below that the answer cannot be used.
  }
  throw unusable(client.name, path, "something that is no JSON object with a member data");
}

/** The whole body of an answer that is good. */
export async function askForBody(client: Askable, path: string, options: AskOptions): Promise<Buffer> {
  const { timers, timeoutMillis, signal } = options;
  const done = new AbortController();
  const late = new AbortController();
  timers.sleep(timeoutMillis, done.signal).then(
    () => late.abort(),
    () => {},
  );
  const ends = signal ? AbortSignal.any([signal, late.signal]) : late.signal;
  try {
    const request = { verb: "GET", url: path, headers: ASKS_FOR_JSON } as const;
    const response = await client.request(request, { signal: ends });
    const body = await wholeBody(response, MAX_BYTES, ends);
    if (response.status === 200) return body;
    const kind = response.status === 404 ? MissingError : UpstreamError;
    throw unusable(client.name, path, `HTTP status ${response.status}`, kind);
  } catch (error) {
    if (!late.signal.aborted) throw error;
    const message = `${client.name} did not answer ${path} within ${timeoutMillis / 1000} s.`;
    throw new LateError(client.name, message, { mayHaveArrived: true, cause: error });
  } finally {
    done.abort();
  }
}

/** Rejects with an `UpstreamError` when there are more bytes, or when it breaks off; with the signal's reason when that is aborted. */
export async function wholeBody(
  { upstream, body }: Pick<UpstreamResponse, "upstream" | "body">,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Buffer> {
  if (Buffer.isBuffer(body)) return body;
  const whole = await bodyUpTo(body, maxBytes, signal);
  if (whole.length <= maxBytes) return whole;
  throw new UpstreamError(upstream, `${upstream} answered with more than ${maxBytes} bytes.`, { mayHaveArrived: true });
}

/** Of a longer body a little more than so many bytes, after which it is not read. */
export async function bodyUpTo(body: AsyncIterable<Buffer>, maxBytes: number, signal: AbortSignal): Promise<Buffer> {
  const stop = () => discard({ body });
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      chunks.push(keepBytes(chunk));
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

function unusable(upstream: string, path: string, what: string, Kind = UpstreamError): UpstreamError {
  return new Kind(upstream, `${upstream} answered ${path} with ${what}.`, { mayHaveArrived: true });
}

/** Nobody reads the body of the answer. */
export function discard({ body }: Pick<UpstreamResponse, "body">): void {
  if (!Buffer.isBuffer(body)) void body[Symbol.asyncIterator]().return?.();
}
