import { JsonParseError, parseMessage } from "../../json/parse.ts";
import { EXIT_CODES, StartupError } from "../exit.ts";
import { withoutCredentials } from "../flags/flag-values.ts";
import type { Terminal } from "../terminal.ts";
import { EnvelopeSplitter } from "./envelope-splitter.ts";
import { printable } from "./printable.ts";
import { CallPrinter } from "./printer.ts";
import { type HttpAnswer, NoResponseError, postJson, readUpTo } from "./request.ts";
import { sendOnceStarted } from "./starting-node.ts";

const MAX_REFUSAL_BYTES = 10_000;
const READINESS = { method: "getReadiness", params: "[]", meta: false };

export interface CallOptions {
  method: string;
  /** Parameters as a JSON array or object. */
  params: string;
  url: string;
  json: boolean;
  meta: boolean;
  timeout: number;
  /** Bearer token. */
  token?: string;
  /** Seconds to wait for a node starting on this machine, at most the timeout. Default: 0. */
  waitSeconds?: number;
  signal?: AbortSignal;
}

/** Calls a method on a node, prints the response and returns the exit code. */
export async function runCall(options: CallOptions, terminal: Terminal): Promise<number> {
  try {
    const { url, token, timeout, signal } = options;
    const waitSeconds = Math.min(options.waitSeconds ?? 0, timeout);
    const request = { url, json: requestText(options), token, timeoutSeconds: timeout, signal };
    const onWait = (text: string) => terminal.writeError(`fanal: ${text}\n`);
    const isReady = async () => {
      const { body } = await postJson({ ...request, json: requestText(READINESS) });
      return !(await readUpTo(body, MAX_REFUSAL_BYTES)).includes('"ready":false');
    };
    const answer = await sendOnceStarted(() => postJson(request), { url, waitSeconds, isReady, onWait });
    if (answer.status === 401 || answer.status === 403) throw await refusal(answer, options);
    return await printAnswer(answer, options, terminal);
  } catch (error) {
    if (!(error instanceof NoResponseError)) throw error;
    throw new StartupError("noAnswer", error.message, error);
  }
}

function requestText({ method, params, meta }: Pick<CallOptions, "method" | "params" | "meta">): string {
  const call = `"method":${JSON.stringify(method)},"params":${params}`;
  return `{"jsonrpc":"2.0","id":1,${call}${meta ? ',"meta":true' : ""}}`;
}

async function printAnswer(answer: HttpAnswer, options: CallOptions, terminal: Terminal): Promise<number> {
  const splitter = new EnvelopeSplitter();
  const printer = new CallPrinter(options, terminal);
  const others = { error: [] as Buffer[], meta: [] as Buffer[] };
  const unreadable = (cause?: unknown) => new NoResponseError(notJsonRpc(options.url, answer.status), cause);
  for await (const chunk of answer.body) {
    for (const { name, bytes } of pieces(splitter, chunk, unreadable)) {
      if (name === "result") await printer.takeResult(bytes);
      else if (name === "error" || name === "meta") others[name].push(bytes);
    }
    if (!printer.hasReader) return EXIT_CODES.ok;
  }
  if (!splitter.isComplete) throw unreadable();
  try {
    if (printer.hasResult) {
      await printer.finish(Buffer.concat(others.meta));
      return EXIT_CODES.ok;
    }
    const error = Buffer.concat(others.error);
    const errorObject = parseMessage(error);
    if (!isErrorObject(errorObject)) throw unreadable();
    printer.printError(errorObject, error);
    return EXIT_CODES.internal;
  } catch (cause) {
    throw cause instanceof JsonParseError ? unreadable(cause) : cause;
  }
}

/** Builds the error for a 401 or 403 response. */
async function refusal({ status, body }: HttpAnswer, { url }: CallOptions): Promise<StartupError> {
  const reason = messageOf(await readUpTo(body, MAX_REFUSAL_BYTES)) ?? `HTTP status ${status}.`;
  const hint = status === 401 ? " Send a token with --token-file." : "";
  return new StartupError(
    "internal",
    `The server at ${withoutCredentials(url)} rejected the call: ${printable(reason)}${hint}`,
  );
}

function messageOf(body: Buffer): string | undefined {
  try {
    const { message } = JSON.parse(body.toString("utf8")) as { message?: unknown };
    return typeof message === "string" ? message : undefined;
  } catch {
    return undefined;
  }
}

function* pieces(splitter: EnvelopeSplitter, chunk: Buffer, unreadable: (cause: unknown) => Error) {
  try {
    yield* splitter.split(chunk);
  } catch (error) {
    throw error instanceof SyntaxError ? unreadable(error) : error;
  }
}

function notJsonRpc(url: string, status: number): string {
  const suffix = status === 200 ? "" : ` (HTTP status ${status})`;
  return `The server at ${withoutCredentials(url)} does not speak JSON-RPC${suffix}.`;
}

function isErrorObject(value: unknown): value is { code: unknown; message: unknown; data?: unknown } {
  return typeof value === "object" && value !== null && "code" in value && "message" in value;
}
