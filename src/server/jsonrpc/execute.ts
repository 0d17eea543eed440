import { inspect } from "node:util";
import { TimeSlice, yieldToEventLoop } from "../../async/time-slice.ts";
import { Failure } from "../../errors/failure.ts";
import {
  JsonParseError,
  LARGE_MESSAGE_BYTES,
  parseMessage,
  parseMessageInSlices,
  parseTopLevel,
  splitArray,
} from "../../json/parse.ts";
import { firstNonSpace, OPENING_BRACKET } from "../../json/value-bounds.ts";
import type { Logger } from "../../log/logger.ts";
import { isReadOnly } from "../access-class.ts";
import type { CallObserver, CallServer, ObservedCall } from "../call-observer.ts";
import { abandon, abandonParts, ChunkStream, meterParts, type ResponsePart } from "../http/chunk-stream.ts";
import type { Deadline } from "../http/deadline.ts";
import type { Client, Method, MethodTable } from "../method-table.ts";
import { type Call, type InvalidRequest, isInvalid, NULL_ID, readRequest } from "./envelope.ts";
import {
  type ErrorObject,
  invalidRequest,
  methodNotFound,
  methodNotServed,
  parseError,
  thrownError,
} from "./errors.ts";
import { batchResponse, errorResponse, resultResponse, streamedResponse } from "./respond.ts";

interface ExecutorOptions {
  table: MethodTable;
  logger: Logger;
  /** A longer batch is refused as a whole. */
  batchLength: number;
  /** When the answers to a batch are larger than this together, the rest of its calls is refused. */
  batchBytes: number;
  /** Where the messages come from. */
  server: CallServer;
  observer?: CallObserver;
}

/** What goes back for one message: all of it, or a stream whose consumer calls `return()` when it stops early. */
export interface MessageResponse {
  body: Buffer[] | ChunkStream;
  /** The metadata of a single call's result, as the headers that its REST twin uses. */
  headers?: Record<string, string>;
}

/**
 * Runs one message (a request object or a batch) of any transport; there is no response when nothing asks for one. An observer that
 * is given watches the calls of this message in the place of the one that watches those of all.
 */
export type Execute = (
  message: Uint8Array,
  deadline: Deadline,
  caller?: Client,
  observer?: CallObserver,
) => Promise<MessageResponse | undefined>;

/** Whoever sent a message, and what goes with all of its calls. */
interface Sender {
  deadline: Deadline;
  caller: Client | undefined;
  observer: CallObserver | undefined;
  /** Suggests a name for an unknown method. Only the first one of a message gets a suggestion. */
  suggest?: Suggest;
}

type Suggest = (name: string) => string | undefined;

/** How many calls of a batch are under way at once. More would only wait for each other. */
const BATCH_CALLS_AT_ONCE = 4;

/** How long a batch may keep everybody else waiting. */
const TURN_MILLIS = 5;

interface CallResponse {
  parts: ResponsePart[];
  headers?: Record<string, string>;
}

export function createExecutor(options: ExecutorOptions): Execute {
  const { table, logger, batchLength, batchBytes, server, observer } = options;
  const suggest = table.suggest?.bind(table);

  // Not an async function: one that returns a promise takes three turns more to settle than that promise.
  return function execute(message, deadline, caller, ownObserver) {
    const sender: Sender = { deadline, caller, observer: ownObserver ?? observer, suggest };
    if (message.length < LARGE_MESSAGE_BYTES) return executeNow(message, sender);
    return yieldToEventLoop().then(() => executeLong(message, sender));
  };

  async function executeLong(message: Uint8Array, sender: Sender): Promise<MessageResponse | undefined> {
    try {
      if (firstNonSpace(message) === OPENING_BRACKET) return await executeLongBatch(message, sender);
      const { request, rest } = await readLong(message, sender);
      return messageOf(await runElement(request, sender, immediately, rest));
    } catch (error) {
      if (!(error instanceof JsonParseError)) throw error;
      return refuseWhole(parseError(error.message), sender);
    }
  }

  async function executeLongBatch(message: Uint8Array, sender: Sender): Promise<MessageResponse | undefined> {
    const elements = await splitArray(message, batchLength);
    if (elements.length > batchLength) return runBatch(elements, sender);
    const slice = new TimeSlice();
    const requests: unknown[] = [];
    const messages: (Uint8Array | undefined)[] = [];
    for (const element of elements) {
      const { request, rest } = element instanceof Uint8Array ? await read(element, sender) : { request: element };
      requests.push(request);
      messages.push(rest);
      await slice.yieldIfDue();
    }
    return runBatch(requests, sender, messages);
  }

  function read(message: Uint8Array, sender: Sender): Promise<ReadMessage> | ReadMessage {
    return message.length < LARGE_MESSAGE_BYTES ? { request: parseMessage(message) } : readLong(message, sender);
  }

  /** Whoever can read the parameters of a call from its message gets that, so that they are not read here. */
  async function readLong(message: Uint8Array, { caller }: Sender): Promise<ReadMessage> {
    const request = await parseTopLevel(message);
    const call = readRequest(request);
    const method = isInvalid(call) ? undefined : table.find(call.method);
    // To say why it is not served, nobody has to know the parameters.
    if (method === undefined || caller?.refusal(method.access) !== undefined) return { request };
    return method.callByMessage ? { request, rest: message } : { request: await parseMessageInSlices(message) };
  }

  function executeNow(message: Uint8Array, sender: Sender): Promise<MessageResponse | undefined> {
    let request: unknown;
    try {
      request = parseMessage(message);
    } catch (error) {
      if (!(error instanceof JsonParseError)) return Promise.reject(error);
      return Promise.resolve(refuseWhole(parseError(error.message), sender));
    }
    if (Array.isArray(request)) return runBatch(request, sender);
    return runElement(request, sender, immediately).then(messageOf);
  }

  async function runBatch(
    requests: readonly unknown[],
    sender: Sender,
    messages: readonly (Uint8Array | undefined)[] = [],
  ): Promise<MessageResponse | undefined> {
    if (requests.length === 0) {
      return refuseWhole(invalidRequest("A batch must hold at least one request."), sender);
    }
    if (requests.length > batchLength) {
      const message = `A batch may hold at most ${batchLength} requests, but this one holds ${requests.length}.`;
      return refuseWhole(thrownError(new Failure("limit-exceeded", message)), sender);
    }
    const responses = new Array<CallResponse | undefined>(requests.length);
    const inOrder = createQueue();
    let next = 0;
    let bytes = 0;
    let turnBegan = performance.now();
    async function runNext(): Promise<void> {
      while (next < requests.length) {
        const position = next++;
        const request = requests[position];
        const response =
          bytes > batchBytes ? refuse(request, sender) : await runElement(request, sender, inOrder, messages[position]);
        responses[position] = response;
        if (response) bytes += bytesOf(response.parts);
        if (performance.now() - turnBegan < TURN_MILLIS) continue;
        await yieldToEventLoop();
        turnBegan = performance.now();
      }
    }
    await Promise.all(Array.from({ length: BATCH_CALLS_AT_ONCE }, runNext));
    const wanted = responses.filter((response) => response !== undefined);
    return wanted.length === 0 ? undefined : { body: toBody(batchResponse(wanted.map(({ parts }) => parts))) };
  }

  /** Of the calls for whose answers a batch has no room left. */
  function refuse(request: unknown, sender: Sender): CallResponse | undefined {
    const call = readRequest(request);
    const message = `The answers to the calls before it in the batch have more than ${batchBytes} bytes; it was not made.`;
    return isInvalid(call)
      ? refuseInvalid(call, sender)
      : failed(call, thrownError(new Failure("limit-exceeded", message)), observe(call, sender));
  }

  function refuseInvalid({ id, reason }: InvalidRequest, { observer }: Sender): CallResponse {
    const error = invalidRequest(reason);
    const response = { parts: [errorResponse(id, error)] };
    conclude(observer?.begin(server, undefined), response, error.code);
    return response;
  }

  /** The answer to a message in which no single request can be made out. */
  function refuseWhole(error: ErrorObject, { observer }: Sender): MessageResponse {
    const parts = [errorResponse(NULL_ID, error)];
    conclude(observer?.begin(server, undefined), { parts }, error.code);
    return { body: parts };
  }

  function observe({ method }: Call, { observer }: Sender): ObservedCall | undefined {
    return observer?.begin(server, table.find(method)?.name);
  }

  /** Never rejects. Submissions are run through `schedule`; everything else starts at once. */
  async function runElement(
    request: unknown,
    sender: Sender,
    schedule: Schedule,
    message?: Uint8Array,
  ): Promise<CallResponse | undefined> {
    const call = readRequest(request);
    if (isInvalid(call)) return refuseInvalid(call, sender);
    const { deadline, caller } = sender;
    const observed = observe(call, sender);
    try {
      if (deadline.over) throw deadline.over;
      const method = table.find(call.method);
      if (method === undefined) {
        const error = methodNotFound(call.method, sender.suggest);
        sender.suggest = undefined;
        return failed(call, error, observed);
      }
      const refusal = caller?.refusal(method.access);
      if (refusal !== undefined) return failed(call, methodNotServed(refusal), observed);
      const run = () => runCall({ ...call, message }, method, deadline, caller);
      const response = await (isReadOnly(method.access) ? run() : schedule(run));
      conclude(observed, response);
      return response;
    } catch (error) {
      if (error instanceof JsonParseError) {
        return failed({ ...call, id: NULL_ID }, parseError(error.message), observed);
      }
      if (!(error instanceof Failure)) {
        logger.error("A method failed unexpectedly.", { method: call.method, error: inspect(error) });
      }
      return failed(call, thrownError(error), observed);
    }
  }

  function failed(call: Call, error: ErrorObject, observed: ObservedCall | undefined): CallResponse | undefined {
    logger.debug("A call failed.", { method: call.method, code: error.code, message: error.message });
    const response = call.id === undefined ? undefined : { parts: [errorResponse(call.id, error)] };
    conclude(observed, response, error.code);
    return response;
  }
}

interface ReadMessage {
  request: unknown;
  /** The message itself, when its parameters are not read yet. */
  rest?: Uint8Array;
}

interface ReadCall extends Call {
  /** Where the parameters are that were not read. */
  message: Uint8Array | undefined;
}

function runCall(
  call: ReadCall,
  method: Method,
  deadline: Deadline,
  caller?: Client,
): Promise<CallResponse | undefined> {
  // A submission that waited for others must not start after its caller was told that the time is over.
  if (deadline.over) return Promise.reject(deadline.over);
  return deadline.race(answer(call, method, deadline, caller), abandonResponse);
}

async function answer(
  call: ReadCall,
  method: Method,
  deadline: Deadline,
  caller?: Client,
): Promise<CallResponse | undefined> {
  const { body, meta, headers } = await (call.message && method.callByMessage
    ? method.callByMessage(call.message, caller, deadline)
    : method.call(call.params, caller, deadline));
  if (call.id === undefined) {
    if (!Buffer.isBuffer(body)) abandon(body[Symbol.asyncIterator]());
    return undefined;
  }
  const shownMeta = call.wantsMeta ? (meta ?? {}) : undefined;
  const parts = Buffer.isBuffer(body)
    ? resultResponse(call.id, body, shownMeta)
    : await streamedResponse(call.id, body, shownMeta);
  return { parts, headers };
}

function abandonResponse(response: CallResponse | undefined): void {
  if (response !== undefined) abandonParts(response.parts);
}

/** To a notification there is no response. */
function conclude(observed: ObservedCall | undefined, response: CallResponse | undefined, errorCode?: number): void {
  if (observed === undefined) return;
  observed.end(errorCode);
  if (response) meterParts(response.parts, observed.bytes);
}

function messageOf(response: CallResponse | undefined): MessageResponse | undefined {
  return response && { body: toBody(response.parts), headers: response.headers };
}

/** Of a stream only what is there. */
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

/** Runs what it is given one after the other, whether or not the one before succeeded. */
function createQueue(): Schedule {
  let last: Promise<unknown> = Promise.resolve();
  return (run) => {
    const result = last.then(run, run);
    last = result;
    return result;
  };
}
