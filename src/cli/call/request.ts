import type { IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import { request as requestHttp } from "../../runtime/node-http.ts";
import { withoutCredentials } from "../flags/flag-values.ts";

/** Thrown if the node is unreachable, times out or sends no valid response. */
export class NoResponseError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "NoResponseError";
  }
}

export interface HttpAnswer {
  status: number;
  body: AsyncIterable<Buffer>;
}

interface JsonPost {
  url: string;
  json: string;
  /** Bearer token. */
  token: string | undefined;
  timeoutSeconds: number;
  /** Aborts the request and the response. */
  signal?: AbortSignal;
}

/** Posts JSON. The timeout applies to each wait for the node, but not to the time the caller takes to read. */
export async function postJson({ url, json, token, timeoutSeconds, signal }: JsonPost): Promise<HttpAnswer> {
  const shownUrl = withoutCredentials(url);
  const limit = new TimeLimit(shownUrl, timeoutSeconds);
  const ends = signal === undefined ? limit.signal : AbortSignal.any([limit.signal, signal]);
  const response = await limit.within(send({ url, json, token }, ends));
  return { status: response.statusCode ?? 0, body: chunksOf(shownUrl, response, limit) };
}

function send(
  { url, json, token }: Pick<JsonPost, "url" | "json" | "token">,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const target = new URL(url);
  const body = Buffer.from(json);
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = (target.protocol === "https:" ? requestHttps : requestHttp)(target, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      "Content-Length": body.length,
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    },
    agent: false,
    signal,
  });
  request.once("response", resolve);
  // Several errors may be emitted, and any unhandled error would crash the process.
  request.on("error", (error) => reject(unreachable(withoutCredentials(url), error)));
  request.end(body);
  return promise;
}

async function* chunksOf(url: string, response: IncomingMessage, limit: TimeLimit): AsyncGenerator<Buffer> {
  const chunks = response[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  try {
    for (;;) {
      const next = await limit.within(chunks.next());
      if (next.done) return;
      yield next.value;
    }
  } catch (error) {
    if (error instanceof NoResponseError) throw error;
    throw new NoResponseError(`The node at ${url} closed the connection during its response.`, error);
  } finally {
    response.destroy();
  }
}

/** Reads a body until it ends or exceeds the limit. */
export async function readUpTo(body: HttpAnswer["body"], maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxBytes) break;
  }
  return Buffer.concat(chunks);
}

function unreachable(url: string, error: Error): NoResponseError {
  const { code } = error as NodeJS.ErrnoException;
  // If a host name has several addresses, the AggregateError has no message.
  const reason = error.message || code || "the connection failed";
  const hint = code === "ECONNREFUSED" ? " Is a node running there, with --rpc? --url takes another address." : "";
  return new NoResponseError(`The node at ${url} is unreachable: ${reason}.${hint}`, error);
}

class TimeLimit {
  readonly #url: string;
  readonly #seconds: number;
  readonly #abort = new AbortController();

  constructor(url: string, seconds: number) {
    this.#url = url;
    this.#seconds = seconds;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  async within<T>(wait: Promise<T>): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>();
    // A timer beyond 2^31-1 ms would fire immediately.
    const timer = setTimeout(
      () => {
        reject(new NoResponseError(`The node at ${this.#url} did not answer within ${this.#seconds} seconds.`));
        this.#abort.abort();
      },
      Math.min(this.#seconds * 1000, 2 ** 31 - 1),
    );
    try {
      return await Promise.race([wait, promise]);
    } finally {
      clearTimeout(timer);
      // Ignores later failures of the abandoned wait.
      wait.catch(() => {});
    }
  }
}
