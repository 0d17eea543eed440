import { z } from "zod";

interface JsonRpcClientOptions {
  url: string;
  /** After which a call is given up. */
  timeoutMs?: number;
  /** The most bytes that an answer may have. */
  maxAnswerBytes?: number;
  /** The value of the Authorization header, made anew for every request. */
  authorize?(): string;
}

/** The node answered that it cannot or will not. */
export class JsonRpcRefusal extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = "JsonRpcRefusal";
    this.code = code;
  }
}

/** There was no answer, or none of a JSON-RPC server. The message is a clause about the server. */
export class EndpointError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "EndpointError";
  }
}

/** An answer took too long or was too large, so that less may be asked for instead. */
export class TooMuchError extends EndpointError {
  constructor(message: string, cause?: unknown) {
    super(message, cause);
    this.name = "TooMuchError";
  }
}

const DEFAULT_TIMEOUT_MS = 20_000;
const DEFAULT_MAX_ANSWER_BYTES = 32 * 1024 * 1024;

/** What a connection that was idle ends with when the server had closed it in the meantime. */
const RESET_CODES = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

const ANSWER = z.union([
  z.object({ error: z.object({ code: z.number(), message: z.string() }) }),
  z.object({ result: z.unknown() }),
]);

/** Calls of one JSON-RPC server over HTTP. */
export class JsonRpcClient {
  /** How the server is named in the log: without path and credentials, which may hold keys. */
  readonly name: string;
  readonly #url: string;
  readonly #timeoutMs: number;
  readonly #maxAnswerBytes: number;
  readonly #authorize: (() => string) | undefined;
  #lastId = 0;

  constructor({ url, timeoutMs, maxAnswerBytes, authorize }: JsonRpcClientOptions) {
    const { host, username, password } = new URL(url);
    this.name = host;
    const bare = new URL(url);
    bare.username = "";
    bare.password = "";
    this.#url = bare.href;
    this.#timeoutMs = timeoutMs ?? DEFAULT_TIMEOUT_MS;
    this.#maxAnswerBytes = maxAnswerBytes ?? DEFAULT_MAX_ANSWER_BYTES;
    this.#authorize = authorize ?? (username === "" ? undefined : () => basicAuthorization(username, password));
  }

  /** The result, whose form is for the caller to check. Rejects with the signal's reason when it is aborted. */
  async call(method: string, params: readonly unknown[], signal?: AbortSignal): Promise<unknown> {
    try {
      return await this.#request(method, params, signal);
    } catch (error) {
      if (!isReset(error)) throw error;
      return this.#request(method, params, signal);
    }
  }

  async #request(method: string, params: readonly unknown[], signal: AbortSignal | undefined): Promise<unknown> {
    this.#lastId += 1;
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    try {
      const response = await fetch(this.#url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(this.#authorize && { authorization: this.#authorize() }),
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: this.#lastId, method, params }),
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      });
      return resultOf(response, await this.#read(response));
    } catch (error) {
      if (signal?.aborted || error instanceof JsonRpcRefusal || error instanceof EndpointError) throw error;
      if (timeout.aborted) {
        throw new TooMuchError(`did not answer ${method} within ${this.#timeoutMs / 1000} seconds`, error);
      }
      throw new EndpointError(`cannot be reached (${reasonOf(error)})`, error);
    }
  }

  async #read({ body }: Response): Promise<string> {
    const decoder = new TextDecoder();
    let text = "";
    let received = 0;
    for await (const chunk of body ?? []) {
      received += chunk.length;
      if (received > this.#maxAnswerBytes) {
        throw new TooMuchError(
          `answers with more than ${this.#maxAnswerBytes / 1024 ** 2} MiB, the most that is taken`,
        );
      }
      text += decoder.decode(chunk, { stream: true });
    }
    return text + decoder.decode();
  }
}

/** Some servers answer with an HTTP error where others have only an error of JSON-RPC, and some with both. */
function resultOf({ ok, status, statusText }: Response, text: string): unknown {
  const answer = ANSWER.safeParse(parsed(text)).data;
  if (answer !== undefined && "error" in answer) throw new JsonRpcRefusal(answer.error.code, answer.error.message);
  if (!ok) throw new EndpointError(`answers with the HTTP status ${status} ${statusText}`.trimEnd());
  if (answer === undefined) throw new EndpointError("does not answer as a JSON-RPC server does");
  return answer.result;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function basicAuthorization(username: string, password: string): string {
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(credentials).toString("base64")}`;
}

function isReset(error: unknown): boolean {
  return error instanceof EndpointError && RESET_CODES.has(codeOf(error.cause) ?? "");
}

/** `fetch` hides what the system said behind a "fetch failed". */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ("code" in error && typeof error.code === "string") return error.code;
  return codeOf(error.cause);
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return codeOf(error) ?? (error.cause === undefined ? error.message : reasonOf(error.cause));
}
