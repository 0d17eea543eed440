import { inspect } from "node:util";
import { SerialQueue } from "../../async/serial-queue.ts";
import { TimeSlice, yieldToEventLoop } from "../../async/time-slice.ts";
import { Failure } from "../../errors/failure.ts";
import {
  JsonParseError,
  LARGE_MESSAGE_BYTES,
  parseMessageInSlices,
  parseTopLevel,
  parseWithNested,
  type ScannedJson,
  splitArray,
} from "../../json/parse.ts";
import { firstNonSpace, OPENING_BRACKET } from "../../json/value-bounds.ts";
import type { Logger } from "../../log/logger.ts";
import { isReadOnly } from "../access-class.ts";
import type { CallObserver, CallServer, ObservedCall } from "../call-observer.ts";
import type { BudgetRejection } from "../http/access/api-clients.ts";
import type { Deadline } from "../http/deadline.ts";
import { ChunkStream, closeParts, closeSource, meterParts, type ResponsePart } from "../http/response/chunk-stream.ts";
import type { CallableMethod, Client, MethodResponse, MethodTable } from "../method-table.ts";
import { type Call, type InvalidRequest, isInvalid, isParams, NULL_ID, parseRequest } from "./envelope.ts";
import {
  accessDenied,
  budgetExceeded,
  type ErrorObject,
  invalidRequest,
  methodNotFound,
  toErrorObject,
  unreadable,
} from "./errors.ts";
import { batchResponse, errorResponse, resultResponse, streamedResponse } from "./respond.ts";

interface ExecutorOptions {
  table: MethodTable;
  logger: Logger;
  /** Longer batches are rejected. */
  batchLength: number;
  /** Maximum total size of the responses in a batch. Further calls in the batch are rejected. */
  batchBytes: number;
  /** The protocol that is reported to observers. */
  server: CallServer;
  observer?: CallObserver;
}

/** The response to a message. To stop early, the consumer of a stream must call `return()`. */
export interface MessageResponse {
  body: Buffer[] | ChunkStream;
  /** Metadata for a single call, in the format of REST response headers. */
  headers?: Record<string, string>;
}

/**
 * Executes a message, which is a request object or a batch. Returns a promise unless the response is available
 * immediately, and undefined if there is nothing to respond. Never throws. `observer` replaces the executor's observer
 * for this message.
 */
export type Execute = (
  message: Uint8Array,
  deadline: Deadline,
  caller?: Client,
  observer?: CallObserver,
) => MaybePromise<MessageResponse | undefined>;

type MaybePromise<T> = T | Promise<T>;

/** Context shared by all calls in a message. */
interface MessageContext {
  deadline: Deadline;
  caller: Client | undefined;
  observer: CallObserver | undefined;
  /** Suggests a similar name for an unknown method. Called at most once per message. */
  suggest?: Suggest;
}

type Suggest = (name: string) => string | undefined;

/** Maximum number of concurrent calls per batch. */
const BATCH_CONCURRENCY = 4;

/** Time after which a batch yields to the event loop. */
const TURN_MILLIS = 5;

interface CallResponse {
  parts: ResponsePart[];
  headers?: Record<string, string>;
}

/** Creates an executor for JSON-RPC messages. */
export function createExecutor(options: ExecutorOptions): Execute {
  const { table, logger, batchLength, batchBytes, server, observer } = options;
  const suggest = table.suggest?.bind(table);

  return function execute(message, deadline, caller, ownObserver) {
    const context: MessageContext = { deadline, caller, observer: ownObserver ?? observer, suggest };
    if (message.length < LARGE_MESSAGE_BYTES) return executeSmall(message, context);
    return yieldToEventLoop().then(() => executeLarge(message, context));
  };

  async function executeLarge(message: Uint8Array, context: MessageContext): Promise<MessageResponse | undefined> {
    try {
      if (firstNonSpace(message) === OPENING_BRACKET) return await executeLargeBatch(message, context);
      return messageOf(await runElement(await parseLarge(message, context), context, immediately));
    } catch (error) {
      if (!(error instanceof JsonParseError)) throw error;
      return rejectMessage(unreadable(error), context);
    }
  }

  async function executeLargeBatch(message: Uint8Array, context: MessageContext): Promise<MessageResponse | undefined> {
    const elements = await splitArray(message, batchLength);
    const rejection = rejectBatch(elements.length, context);
    if (rejection) return rejection;
    const slice = new TimeSlice();
    const requests: ParsedRequest[] = [];
    for (const element of elements) {
      requests.push(element instanceof Uint8Array ? await parseElement(element, context) : { request: element });
      await slice.yieldIfDue();
    }
    return runBatch(requests, context);
  }

  function parseElement(message: Uint8Array, context: MessageContext): Promise<ParsedRequest> | ParsedRequest {
    return message.length < LARGE_MESSAGE_BYTES ? parseSmall(message) : parseLarge(message, context);
  }

  /** Parses only the top level of a call if its method parses large parameters itself. */
  async function parseLarge(message: Uint8Array, { caller }: MessageContext): Promise<ParsedRequest> {
    const { value: request, nested } = await parseTopLevel(message);
    const call = parseRequest(request);
    const method = isInvalid(call) ? undefined : table.find(call.method);
    // The call is going to be rejected, so its parameters are not needed.
    if (method === undefined || caller?.denialReason(method) !== undefined) return { request };
    const { params } = request as { params?: unknown };
    if (!method.callByJson || !isParams(params)) return { request: await parseMessageInSlices(message) };
    return { request, json: nested(params), isOutline: true };
  }

  function executeSmall(message: Uint8Array, context: MessageContext): MaybePromise<MessageResponse | undefined> {
    let parsed: ParsedRequest;
    try {
      parsed = parseSmall(message);
    } catch (error) {
      if (!(error instanceof JsonParseError)) return Promise.reject(error);
      return rejectMessage(unreadable(error), context);
    }
    const { request } = parsed;
    if (Array.isArray(request)) {
      const requests = request.map((element) => ({ request: element }));
      return rejectBatch(request.length, context) ?? runBatch(requests, context);
    }
    const response = runElement(parsed, context, immediately);
    return response instanceof Promise ? response.then(messageOf) : messageOf(response);
  }

  /** Rejects a batch that is empty or too long. */
  function rejectBatch(length: number, context: MessageContext): MessageResponse | undefined {
    if (length === 0) return rejectMessage(invalidRequest("The batch is empty. Send at least one request."), context);
    if (length <= batchLength) return undefined;
    const message = `The batch has ${length} requests, the limit is ${batchLength}. Split it, or raise --max-batch-calls.`;
    return rejectMessage(toErrorObject(new Failure("limit-exceeded", message)), context);
  }

  async function runBatch(
    requests: readonly ParsedRequest[],
    context: MessageContext,
  ): Promise<MessageResponse | undefined> {
    const responses = new Array<CallResponse | undefined>(requests.length);
    const queue = new SerialQueue();
    const inOrder: Schedule = (run) => queue.run(run);
    let next = 0;
    let bytes = 0;
    let turnBegan = performance.now();
    async function runNext(): Promise<void> {
      while (next < requests.length) {
        const position = next++;
        const parsed = requests[position]!;
        const response =
          bytes > batchBytes ? rejectCall(parsed.request, context) : await runElement(parsed, context, inOrder);
        responses[position] = response;
        if (response) bytes += bytesOf(response.parts);
        if (performance.now() - turnBegan < TURN_MILLIS) continue;
        await yieldToEventLoop();
        turnBegan = performance.now();
      }
    }
    await Promise.all(Array.from({ length: BATCH_CONCURRENCY }, runNext));
    const present = responses.filter((response) => response !== undefined);
    return present.length === 0 ? undefined : { body: toBody(batchResponse(present.map(({ parts }) => parts))) };
  }

  /** Rejects a call once the responses in the batch have reached their size limit. */
  function rejectCall(request: unknown, context: MessageContext): CallResponse | undefined {
    const call = parseRequest(request);
    const message = `Not called: the responses to earlier calls of the batch exceed ${batchBytes} bytes (--max-batch-bytes).`;
    return isInvalid(call)
      ? rejectInvalid(call, context)
      : failed(call, toErrorObject(new Failure("limit-exceeded", message)), observe(call, context));
  }

  function rejectInvalid({ id, reason }: InvalidRequest, { observer }: MessageContext): CallResponse {
    const error = invalidRequest(reason);
    const response = { parts: [errorResponse(id, error)] };
    endObservation(observer?.begin(server, undefined), response, error.code);
    return response;
  }

  /** Rejects a complete message. */
  function rejectMessage(error: ErrorObject, { observer }: MessageContext): MessageResponse {
    const parts = [errorResponse(NULL_ID, error)];
    endObservation(observer?.begin(server, undefined), { parts }, error.code);
    return { body: parts };
  }

  function observe({ method }: Call, { observer }: MessageContext): ObservedCall | undefined {
    return observer?.begin(server, table.find(method)?.name);
  }

  /**
   * Runs one call. Never throws. Calls with side effects run through `schedule`, and all other calls start immediately.
   */
  function runElement(
    { request, json, isOutline }: ParsedRequest,
    context: MessageContext,
    schedule: Schedule,
  ): MaybePromise<CallResponse | undefined> {
    const call = parseRequest(request);
    if (isInvalid(call)) return rejectInvalid(call, context);
    const { deadline, caller } = context;
    const observedCall = observe(call, context);
    const succeed = (response: CallResponse | undefined) => {
      endObservation(observedCall, response);
      return response;
    };
    const fail = (error: unknown) => failCall(call, error, observedCall);
    try {
      if (deadline.abortReason) throw deadline.abortReason;
      const method = table.find(call.method);
      if (method === undefined) {
        const error = methodNotFound(call.method, context.suggest);
        context.suggest = undefined;
        return failed(call, error, observedCall);
      }
      const denialReason = caller?.denialReason(method);
      if (denialReason !== undefined) return failed(call, accessDenied(denialReason), observedCall);
      const run = () => runCall({ ...call, json, isOutline }, method, deadline, caller);
      const start = (rejection: BudgetRejection | undefined): MaybePromise<CallResponse | undefined> => {
        if (rejection) return failed(call, budgetExceeded(rejection), observedCall);
        const response = isReadOnly(method.access) ? run() : schedule(async () => run());
        return response instanceof Promise ? response.then(succeed) : succeed(response);
      };
      // This is a promise only if another process keeps the budget.
      const charge = caller?.charge?.(method);
      const response = charge instanceof Promise ? charge.then(start) : start(charge);
      return response instanceof Promise ? response.catch(fail) : response;
    } catch (error) {
      return fail(error);
    }
  }

  function failCall(call: Call, error: unknown, observedCall: ObservedCall | undefined): CallResponse | undefined {
    if (error instanceof JsonParseError) {
      return failed({ ...call, id: NULL_ID }, unreadable(error), observedCall);
    }
    if (!(error instanceof Failure)) {
      logger.error("Method failed unexpectedly", { method: call.method, error: inspect(error) });
    }
    return failed(call, toErrorObject(error), observedCall);
  }

  function failed(call: Call, error: ErrorObject, observedCall: ObservedCall | undefined): CallResponse | undefined {
    logger.debug("Call failed", { method: call.method, code: error.code, message: error.message });
    const response = call.id === undefined ? undefined : { parts: [errorResponse(call.id, error)] };
    endObservation(observedCall, response, error.code);
    return response;
  }
}

/** A request's parameters, as received. */
interface ReceivedParams {
  json?: ScannedJson | undefined;
  /** True if `json` is the only place that has the parameters. */
  isOutline?: boolean | undefined;
}

interface ParsedRequest extends ReceivedParams {
  request: unknown;
}

interface ParsedCall extends Call, ReceivedParams {}

/** Parses a small message. */
function parseSmall(message: Uint8Array): ParsedRequest {
  const { value: request, nested } = parseWithNested(message);
  return { request, json: nested && isParams((request as { params?: unknown }).params) ? nested : undefined };
}

function runCall(
  call: ParsedCall,
  method: CallableMethod,
  deadline: Deadline,
  caller?: Client,
): MaybePromise<CallResponse | undefined> {
  // A queued submission must not run once its caller has received a timeout error.
  if (deadline.abortReason) throw deadline.abortReason;
  const { params, json, isOutline } = call;
  const called =
    json && isOutline && method.callByJson
      ? method.callByJson(json, caller, deadline)
      : method.call(params, caller, deadline, json);
  const response = called instanceof Promise ? called.then((each) => respond(call, each)) : respond(call, called);
  return response instanceof Promise ? deadline.race(response, closeResponse, method.access) : response;
}

/** Returns a promise only for a streamed result. */
function respond(call: ParsedCall, { body, meta, headers }: MethodResponse): MaybePromise<CallResponse | undefined> {
  if (call.id === undefined) {
    if (!Buffer.isBuffer(body)) closeSource(body[Symbol.asyncIterator]());
    return undefined;
  }
  const shownMeta = call.wantsMeta ? (meta ?? {}) : undefined;
  return Buffer.isBuffer(body)
    ? { parts: resultResponse(call.id, body, shownMeta), headers }
    : streamedResponse(call.id, body, shownMeta).then((parts) => ({ parts, headers }));
}

function closeResponse(response: CallResponse | undefined): void {
  if (response !== undefined) closeParts(response.parts);
}

/** Reports the end of a call to its observer. Notifications have no response. */
function endObservation(
  observedCall: ObservedCall | undefined,
  response: CallResponse | undefined,
  errorCode?: number,
): void {
  if (observedCall === undefined) return;
  observedCall.end(errorCode);
  if (response) meterParts(response.parts, observedCall.bytes);
}

function messageOf(response: CallResponse | undefined): MessageResponse | undefined {
  return response && { body: toBody(response.parts), headers: response.headers };
}

/** Counts response bytes. For a stream, counts only the first chunk. */
function bytesOf(parts: readonly ResponsePart[]): number {
  let bytes = 0;
  for (const part of parts) bytes += Buffer.isBuffer(part) ? part.length : part.first.length;
  return bytes;
}

function toBody(parts: ResponsePart[]): Buffer[] | ChunkStream {
  return parts.every((part) => Buffer.isBuffer(part)) ? parts : new ChunkStream(parts);
}

type Schedule = <T>(run: () => Promise<T>) => Promise<T>;

const immediately: Schedule = (run) => run();
