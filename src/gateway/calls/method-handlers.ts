import { bind } from "../../api/bind.ts";
import type { Method, RestPath } from "../../api/definition.ts";
import { dataAnswer } from "../../api/rest/answer.ts";
import { RequestReader } from "../../api/rest/request.ts";
import { unsupported } from "../../errors/failure.ts";
import { accepts, MEDIA_TYPES } from "../../server/http/negotiation.ts";
import type { Answer, Caller, Params, Waiting } from "../../server/method-table.ts";
import type { RestAnswer, RestRequest } from "../../server/rest/route-table.ts";
import type { ComposedHandler, HandlerContext } from "./composed-methods.ts";
import { type Extensions, extensionPath } from "./extensions.ts";
import type { OperationMapping } from "./operation-mapping.ts";
import { createForwarder, forwardedAnswer } from "./pass-through.ts";
import { toRpcAnswer } from "./rpc-result.ts";
import { standardCall } from "./standard-call.ts";
import type { StandardOperations } from "./standard-operations.ts";

/** How a gateway serves a method. */
export interface GatewayMethod {
  call(params: Params, waiting: Waiting, caller?: Caller): Promise<Answer>;
  /** The same for a large message, whose parameters need not all be parsed. */
  callByMessage?(message: Uint8Array, waiting: Waiting): Promise<Answer>;
  /** Returns the handler of one of the method's REST paths. */
  at(path: RestPath): (request: RestRequest) => Promise<RestAnswer>;
}

export interface GatewayContext extends Omit<HandlerContext, "waiting" | "caller"> {
  readonly extensions: Extensions;
}

/** A standard operation: JSON-RPC calls become REST requests, REST requests are forwarded unchanged. */
export function standardMethod(
  method: Method,
  mapping: OperationMapping,
  { operations }: GatewayContext,
): GatewayMethod {
  return { ...standardCall(method, mapping, operations), at: passThrough(method, operations) };
}

/**
 * A method composed of upstream calls or of the gateway's own state. Requests to standard paths are forwarded
 * unchanged.
 */
export function composedMethod(method: Method, compose: ComposedHandler, context: GatewayContext): GatewayMethod {
  const { name, sameAs, params, arrange, restParams, restStatusOf } = method;
  const signature = { name: sameAs ?? name, params, arrange };
  const passing = passThrough(method, context.operations);
  return {
    async call(given, waiting, caller) {
      return compose(await bind(signature, given), { ...context, waiting, caller });
    },
    at(path) {
      if (path.path.startsWith("/eth/")) return passing(path);
      const reader = new RequestReader(restParams, path);
      return async (request) => {
        const args = await reader.args(request, undefined);
        const answer = await compose(args, { ...context, waiting: request.waiting });
        const whole = dataAnswer(answer, request);
        return restStatusOf ? { ...whole, status: restStatusOf(JSON.parse(String(answer.body))) } : whole;
      };
    },
  };
}

/** A nonstandard method: forwarded to an upstream that has it, otherwise handled by the fallback. */
export function extensionMethod(
  method: Method,
  fallback: ComposedHandler | undefined,
  context: GatewayContext,
): GatewayMethod {
  const { operations, extensions } = context;
  const path = extensionPath(method);
  const requestBuilder = operations.requestBuilderAt(path, method);
  const composed = composedMethod(method, fallback ?? (() => Promise.reject(unsupportedEverywhere(method))), context);
  return {
    async call(params, waiting, caller) {
      const response = await extensions.request(method, await requestBuilder.build(params), waiting);
      return response === undefined ? composed.call(params, waiting, caller) : toRpcAnswer(method, response);
    },
    at(ownMethods) {
      const compose = composed.at(ownMethods);
      const namespace = path.path.slice(0, path.path.indexOf("/", 1));
      const forward = createForwarder(
        method,
        ownMethods,
        namespace + ownMethods.path.slice(ownMethods.path.indexOf("/", 1)),
      );
      return async (request) => {
        const response = await extensions.request(method, forward(request), request.waiting);
        return response === undefined ? compose(request) : forwardedAnswer(method, response);
      };
    },
  };
}

/** A method that a gateway never supports. */
export function unsupportedMethod(reason: string): GatewayMethod {
  const reject = () => Promise.reject(unsupported(reason));
  return { call: reject, at: () => reject };
}

function unsupportedEverywhere({ name }: Method) {
  return unsupported(`${name} is not a standard operation, and no upstream supports it.`);
}

function passThrough(method: Method, operations: StandardOperations): GatewayMethod["at"] {
  return (path) => {
    const forward = createForwarder(method, path);
    return async (request) => {
      const { waiting, headers, format } = request;
      const response = await operations.request(method, forward(request), { waiting });
      const mayBeJson = response.status === 406 && format === "ssz" && accepts(MEDIA_TYPES.json, headers.accept);
      if (!mayBeJson) return forwardedAnswer(method, response);
      return forwardedAnswer(method, await operations.request(method, forward(request, "json"), { waiting }));
    };
  };
}
