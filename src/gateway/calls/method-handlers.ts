import { bind } from "../../api/bind.ts";
import type { MethodDefinition, RestPath } from "../../api/definition.ts";
import { cacheLifetimeOf } from "../../api/rest/caching.ts";
import { RequestParser } from "../../api/rest/request.ts";
import { dataResponse } from "../../api/rest/response.ts";
import { unsupported } from "../../errors/failure.ts";
import type { ScannedJson } from "../../json/parse.ts";
import { accepts, MEDIA_TYPES } from "../../server/http/response/negotiation.ts";
import type { Caller, Cancellation, MethodResponse, Params } from "../../server/method-table.ts";
import type { RestRequest, RestResponse } from "../../server/rest/route-table.ts";
import type { ComposedHandler, HandlerContext } from "./composed-methods.ts";
import { type Extensions, extensionPath } from "./extensions.ts";
import type { OperationMapping } from "./operation-mapping.ts";
import { createForwarder, forwardedAnswer } from "./pass-through.ts";
import { toRpcAnswer } from "./responses/rpc-result.ts";
import { standardCall } from "./standard-call.ts";
import type { StandardOperations } from "./standard-operations.ts";

/** How a gateway serves a method. */
export interface GatewayMethod {
  call(params: Params, cancellation: Cancellation, caller?: Caller): Promise<MethodResponse>;
  /** Like `call`, for a large message. Parses only the parameters that it needs. */
  callByJson?(params: ScannedJson, cancellation: Cancellation): Promise<MethodResponse>;
  /** Returns the handler of one of the method's REST paths. */
  at(path: RestPath): (request: RestRequest) => Promise<RestResponse>;
}

export interface GatewayContext extends Omit<HandlerContext, "cancellation" | "caller"> {
  readonly extensions: Extensions;
}

/** A standard operation: JSON-RPC calls become REST requests, REST requests are forwarded unchanged. */
export function standardMethod(
  method: MethodDefinition,
  mapping: OperationMapping,
  { operations }: GatewayContext,
): GatewayMethod {
  return { ...standardCall(method, mapping, operations), at: passThrough(method, operations) };
}

/** A method that the gateway answers itself on all of its REST paths. */
export function ownMethod(method: MethodDefinition, compose: ComposedHandler, context: GatewayContext): GatewayMethod {
  const { name, sameAs, params, normalizePositional, restParams, restStatusOf, resultForStatus } = method;
  const signature = { name: sameAs ?? name, params, normalizePositional };
  return {
    async call(rpcParams, cancellation, caller) {
      return compose(await bind(signature, rpcParams), { ...context, cancellation, caller });
    },
    at(path) {
      const reader = new RequestParser(restParams, path);
      return async (request) => {
        const args = await reader.args(request, undefined);
        const answer = await compose(args, { ...context, cancellation: request.cancellation });
        if (resultForStatus) return { status: (JSON.parse(String(answer.body)) as { health: number }).health };
        const restAnswer = { ...dataResponse(answer), cacheLifetime: cacheLifetimeOf(request, answer.meta) };
        return restStatusOf ? { ...restAnswer, status: restStatusOf(JSON.parse(String(answer.body))) } : restAnswer;
      };
    },
  };
}

/** A method composed of upstream calls. Requests to standard paths are forwarded unchanged. */
export function composedMethod(
  method: MethodDefinition,
  compose: ComposedHandler,
  context: GatewayContext,
): GatewayMethod {
  const own = ownMethod(method, compose, context);
  const passing = passThrough(method, context.operations);
  return { ...own, at: (path) => (path.path.startsWith("/eth/") ? passing(path) : own.at(path)) };
}

/** A nonstandard method: forwarded to an upstream that has it, otherwise handled by the fallback. */
export function extensionMethod(
  method: MethodDefinition,
  fallback: ComposedHandler | undefined,
  context: GatewayContext,
): GatewayMethod {
  const { operations, extensions } = context;
  const path = extensionPath(method);
  const requestBuilder = operations.requestBuilderAt(path, method);
  const composed = composedMethod(method, fallback ?? (() => Promise.reject(unsupportedEverywhere(method))), context);
  return {
    async call(params, cancellation, caller) {
      const response = await extensions.request(method, await requestBuilder.build(params), cancellation);
      return response === undefined ? composed.call(params, cancellation, caller) : toRpcAnswer(method, response);
    },
    at(restPath) {
      const compose = composed.at(restPath);
      const namespace = path.path.slice(0, path.path.indexOf("/", 1));
      const forward = createForwarder(method, restPath, namespace + restPath.path.slice(restPath.path.indexOf("/", 1)));
      return async (request) => {
        const response = await extensions.request(method, forward(request), request.cancellation);
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

function unsupportedEverywhere({ name }: MethodDefinition) {
  return unsupported(`${name} is not a standard operation, and no upstream supports it.`);
}

function passThrough(method: MethodDefinition, operations: StandardOperations): GatewayMethod["at"] {
  return (path) => {
    const forward = createForwarder(method, path);
    return async (request) => {
      const { cancellation, headers, format } = request;
      const response = await operations.request(method, forward(request), { cancellation });
      const mayBeJson = response.status === 406 && format === "ssz" && accepts(MEDIA_TYPES.json, headers.accept);
      if (!mayBeJson) return forwardedAnswer(method, response);
      return forwardedAnswer(method, await operations.request(method, forward(request, "json"), { cancellation }));
    };
  };
}
