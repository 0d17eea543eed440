import type { MethodDefinition, RestPath } from "../../api/definition.ts";
import { methods } from "../../api/method-groups.ts";
import type { Timers } from "../../async/timers.ts";
import { isReadOnly } from "../../server/access-class.ts";
import type { Cancellation, Params } from "../../server/method-table.ts";
import { type ChainSpec, forkAt, slotAt } from "../network/chain-spec.ts";
import { readFullBody } from "../upstream/client/fetch.ts";
import { type UpstreamCall, UpstreamError, type UpstreamResponse } from "../upstream/upstream-call.ts";
import { toRpcAnswer, upstreamHeaders } from "./responses/rpc-result.ts";
import { bufferErrorBody } from "./responses/upstream-failure.ts";
import { type BuiltRequest, RestRequestBuilder } from "./rest-request-builder.ts";

/** Sends calls to the upstreams. */
export interface UpstreamAccess {
  /** Reads, possibly from the cache. */
  readonly reader: { read(call: UpstreamCall): Promise<UpstreamResponse> };
  /** Sends calls that are not reads. */
  readonly upstreams: { submit(call: UpstreamCall): Promise<UpstreamResponse> };
}

interface StandardOperationsDeps extends UpstreamAccess {
  readonly chainSpec: ChainSpec;
  readonly timers: Pick<Timers, "unixNow">;
}

/** Request to an upstream. The default format is JSON. */
export type Request = BuiltRequest & Partial<Pick<UpstreamCall, "format">>;

/** A value read from an upstream. */
export interface ReadResult<T> {
  readonly value: T;
  /** Headers that name the upstream. */
  readonly headers: Record<string, string>;
}

const BY_NAME: ReadonlyMap<string, MethodDefinition> = new Map(methods.map((method) => [method.name, method]));

export function methodNamed(name: string): MethodDefinition {
  const method = BY_NAME.get(name);
  if (method === undefined) throw new Error(`Unknown method "${name}".`);
  return method;
}

/** Returns the standard REST path of a method, or undefined if it has none. */
export function standardPath({ rest }: MethodDefinition): RestPath | undefined {
  return rest.find(({ path }) => path.startsWith("/eth/"));
}

/** Calls standard operations on upstreams. */
export class StandardOperations {
  readonly #deps: StandardOperationsDeps;
  readonly #requestBuilders = new Map<string, RestRequestBuilder>();

  constructor(deps: StandardOperationsDeps) {
    this.#deps = deps;
  }

  /** Creates a builder of requests to an operation from the parameters of the method `called`. */
  requestBuilder(
    called: MethodDefinition,
    operation: MethodDefinition = called,
    query?: Readonly<Record<string, string>>,
  ): RestRequestBuilder {
    const path = standardPath(operation);
    if (path === undefined) throw new Error(`${operation.name} is not a standard operation.`);
    return this.requestBuilderAt(path, called, operation, query);
  }

  /** Like `requestBuilder`, with a given path of the operation. */
  requestBuilderAt(
    path: RestPath,
    called: MethodDefinition,
    operation: MethodDefinition = called,
    query?: Readonly<Record<string, string>>,
  ): RestRequestBuilder {
    const { chainSpec, timers } = this.#deps;
    const forkOf = (slot = slotAt(chainSpec, timers.unixNow())) => forkAt(chainSpec, slot);
    return new RestRequestBuilder({ called, operation, path, query, forkAt: forkOf });
  }

  /**
   * Sends a request and buffers the body of an error response. Rejects with an `UpstreamError` if there is no response.
   */
  async request(
    method: MethodDefinition,
    request: Request,
    options: Pick<UpstreamCall, "cancellation" | "deprioritized">,
  ): Promise<UpstreamResponse> {
    return bufferErrorBody(await this.send(method, request, options), options.cancellation);
  }

  /** Like `request`, but does not buffer the body of an error response. */
  send(
    method: MethodDefinition,
    request: Request,
    options: Pick<UpstreamCall, "cancellation" | "deprioritized">,
  ): Promise<UpstreamResponse> {
    const { reader, upstreams } = this.#deps;
    const call: UpstreamCall = { method, format: "json", ...request, ...options };
    return isReadOnly(method.access) ? reader.read(call) : upstreams.submit(call);
  }

  /** Calls an operation. Resolves with the response even if its status is an error. */
  async call(name: string, params: Params, cancellation: Cancellation): Promise<UpstreamResponse> {
    const method = methodNamed(name);
    let requestBuilder = this.#requestBuilders.get(name);
    if (requestBuilder === undefined) {
      requestBuilder = this.requestBuilder(method);
      this.#requestBuilders.set(name, requestBuilder);
    }
    return this.request(method, await requestBuilder.build(params), { cancellation });
  }

  /** Calls an operation and transforms its result. Throws a `Failure` for an error response. */
  async read<T, R>(
    name: string,
    params: Params,
    cancellation: Cancellation,
    transform: (value: T) => R,
  ): Promise<ReadResult<R>> {
    return readValue(methodNamed(name), await this.call(name, params, cancellation), cancellation, transform);
  }
}

/** Larger than any result that is transformed. */
const MAX_READ_BYTES = 16 * 1024 * 1024;

/** Parses the JSON result of a response and transforms it. Throws a `Failure` for an error response. */
export async function readValue<T, R>(
  method: MethodDefinition,
  response: UpstreamResponse,
  { signal }: Pick<Cancellation, "signal">,
  transform: (value: T) => R,
): Promise<ReadResult<R>> {
  const { upstream } = response;
  const { body } = await toRpcAnswer(method, response);
  const bytes = await readFullBody({ upstream, body }, MAX_READ_BYTES, signal);
  return { value: transformValue(bytes, { method, upstream, transform }), headers: upstreamHeaders(response) };
}

interface ValueTransform<T, R> {
  method: MethodDefinition;
  upstream: string;
  transform(value: T): R;
}

function transformValue<T, R>(bytes: Buffer, { method, upstream, transform }: ValueTransform<T, R>): R {
  let cause: unknown;
  try {
    const result = transform(JSON.parse(String(bytes)) as T);
    if (result !== undefined) return result;
  } catch (error) {
    cause = error;
  }
  const message = `${upstream} answered ${method.name} with a result that does not match the standard.`;
  throw new UpstreamError(upstream, message, { mayHaveArrived: true, cause });
}
