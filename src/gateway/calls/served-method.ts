import { bind } from "../../api/bind.ts";
import type { Method, RestPath } from "../../api/definition.ts";
import { dataAnswer } from "../../api/rest/answer.ts";
import { RequestReader } from "../../api/rest/request.ts";
import { unsupported } from "../../errors/failure.ts";
import { accepts, MEDIA_TYPES } from "../../server/http/negotiation.ts";
import type { Answer, Caller, Params, Waiting } from "../../server/method-table.ts";
import type { RestAnswer, RestRequest } from "../../server/rest/route-table.ts";
import { answerOf } from "./answers.ts";
import type { ComposedCall, Composition } from "./composed.ts";
import { type Extensions, extensionPath } from "./extensions.ts";
import type { Operations } from "./operations.ts";
import { passedAnswer, passedRequests } from "./pass-through.ts";
import type { StandIn } from "./stand-ins.ts";
import { standardCall } from "./standard-call.ts";

/** How a gateway answers a method. */
export interface ServedMethod {
  call(params: Params, waiting: Waiting, caller?: Caller): Promise<Answer>;
  /** The same with parameters that are in a long message, where not all of them have to be read. */
  callByMessage?(message: Uint8Array, waiting: Waiting): Promise<Answer>;
  /** Answers requests to one of the method's paths. */
  at(path: RestPath): (request: RestRequest) => Promise<RestAnswer>;
}

export interface Surroundings extends Omit<ComposedCall, "waiting" | "caller"> {
  readonly extensions: Extensions;
}

/** An operation of the standard: calls by its REST twin, requests as they came. */
export function standardMethod(method: Method, standIn: StandIn, { operations }: Surroundings): ServedMethod {
  return { ...standardCall(method, standIn, operations), at: passingThrough(method, operations) };
}

/** Whatever is made of what upstreams tell, or of what the gateway knows itself. At the paths of the standard, requests pass as they came. */
export function composedMethod(method: Method, compose: Composition, surroundings: Surroundings): ServedMethod {
  const { name, sameAs, params, arrange, restParams, restStatusOf } = method;
  const signature = { name: sameAs ?? name, params, arrange };
  const passing = passingThrough(method, surroundings.operations);
  return {
    async call(given, waiting, caller) {
      return compose(await bind(signature, given), { ...surroundings, waiting, caller });
    },
    at(path) {
      if (path.path.startsWith("/eth/")) return passing(path);
      const reader = new RequestReader(restParams, path);
      return async (request) => {
        const args = await reader.args(request, undefined);
        const answer = await compose(args, { ...surroundings, waiting: request.waiting });
        const whole = dataAnswer(answer, request);
        return restStatusOf ? { ...whole, status: restStatusOf(JSON.parse(String(answer.body))) } : whole;
      };
    },
  };
}

/** What only some nodes have, and is made otherwise where that is possible. */
export function extensionMethod(
  method: Method,
  otherwise: Composition | undefined,
  surroundings: Surroundings,
): ServedMethod {
  const { operations, extensions } = surroundings;
  const path = extensionPath(method);
  const twin = operations.twinAt(path, method);
  const composed = composedMethod(method, otherwise ?? (() => Promise.reject(nobodyHas(method))), surroundings);
  return {
    async call(params, waiting, caller) {
      const response = await extensions.ask(method, await twin.requestFor(params), waiting);
      return response === undefined ? composed.call(params, waiting, caller) : answerOf(method, response);
    },
    at(own) {
      const compose = composed.at(own);
      const namespace = path.path.slice(0, path.path.indexOf("/", 1));
      const passed = passedRequests(method, own, namespace + own.path.slice(own.path.indexOf("/", 1)));
      return async (request) => {
        const response = await extensions.ask(method, passed(request), request.waiting);
        return response === undefined ? compose(request) : passedAnswer(method, response);
      };
    },
  };
}

/** What a gateway cannot do, whatever its upstreams are. */
export function refusedMethod(reason: string): ServedMethod {
  const refuse = () => Promise.reject(unsupported(reason));
  return { call: refuse, at: () => refuse };
}

function nobodyHas({ name }: Method) {
  return unsupported(`${name} is not in the standard, and none of the upstreams has it.`);
}

function passingThrough(method: Method, operations: Operations): ServedMethod["at"] {
  return (path) => {
    const passed = passedRequests(method, path);
    return async (request) => {
      const { waiting, headers, format } = request;
      const response = await operations.ask(method, passed(request), { waiting });
      const mayBeJson = response.status === 406 && format === "ssz" && accepts(MEDIA_TYPES.json, headers.accept);
      if (!mayBeJson) return passedAnswer(method, response);
      return passedAnswer(method, await operations.ask(method, passed(request, "json"), { waiting }));
    };
  };
}
