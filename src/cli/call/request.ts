import type { IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import { request as requestHttp } from "../../runtime/node-http.ts";
import { withoutCredentials } from "../flags/flag-values.ts";

/** The node cannot be reached, is silent, or what it sends is not an answer. */
export class NoAnswerError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "NoAnswerError";
  }
}

export interface HttpAnswer {
  status: number;
  body: AsyncIterable<Buffer>;
}

interface JsonPost {
  url: string;
  json: string;
  /** What the node wants of its callers; undefined when there is none to send. */
  token: string | undefined;
  timeoutSeconds: number;
  /** Ends the request, and the answer while it comes. */
  signal?: AbortSignal;
}

/** Posts a JSON text. The time limit is for each wait on the node, not for the time that the caller takes to read. */
export async function postJson({ url, json, token, timeoutSeconds, signal }: JsonPost): Promise<HttpAnswer> {
  const shown = withoutCredentials(url);
  const limit = new TimeLimit(shown, timeoutSeconds);
  const ends = signal === undefined ? limit.signal : AbortSignal.any([limit.signal, signal]);
  const response = await limit.within(send({ url, json, token }, ends));
  return { status: response.statusCode ?? 0, body: chunksOf(shown, response, limit) };
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
  // More than one error can come, and an unheard one would end the process.
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
    if (error instanceof NoAnswerError) throw error;
    throw new NoAnswerError(`The node at ${url} broke off in the middle of its answer.`, error);
  } finally {
    response.destroy();
  }
}

function unreachable(url: string, error: Error): NoAnswerError {
  const { code } = error as NodeJS.ErrnoException;
  // Node tries every address of a host name and then has an error without a message.
  const reason = error.message || code || "the connection failed";
  const hint = code === "ECONNREFUSED" ? " Does a node run there, with --rpc?" : "";
  return new NoAnswerError(`No node can be reached at ${url}: ${reason}.${hint}`, error);
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
    // Timers do not take longer than 2^31-1 ms; a longer one would end at once.
    const timer = setTimeout(
      () => {
        reject(new NoAnswerError(`The node at ${this.#url} did not answer within ${this.#seconds} seconds.`));
        this.#abort.abort();
      },
      Math.min(this.#seconds * 1000, 2 ** 31 - 1),
    );
    try {
      return await Promise.race([wait, promise]);
    } finally {
      clearTimeout(timer);
      // What is given up may still fail, which then is nobody's concern.
      wait.catch(() => {});
    }
  }
}
