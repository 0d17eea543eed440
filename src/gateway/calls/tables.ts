import type { Method, RestPath } from "../../api/definition.ts";
import { methodGroups } from "../../api/method-groups.ts";
import { RequestReader } from "../../api/rest/request.ts";
import { SYSTEM_TIMERS, type Timers } from "../../async/timers.ts";
import { nearestName } from "../../errors/nearest-name.ts";
import type { Method as CallableMethod, ListedMethodTable, Waiting } from "../../server/method-table.ts";
import type { RestAnswer, RestRequest, RestRoute, RouteTable } from "../../server/rest/route-table.ts";
import type { ChainFacts } from "../chain-facts.ts";
import type { Conditions } from "../condition.ts";
import type { GatewayEvents } from "../events.ts";
import { COMPOSED, COMPOSED_OTHERWISE } from "./composed.ts";
import { Extensions } from "./extensions.ts";
import { type Askable, Operations } from "./operations.ts";
import { ownMethods, refusalOf } from "./own.ts";
import { routeFormats } from "./pass-through.ts";
import {
  composedMethod,
  extensionMethod,
  refusedMethod,
  type ServedMethod,
  type Surroundings,
  standardMethod,
} from "./served-method.ts";
import { standInOf } from "./stand-ins.ts";

interface GatewayParts extends Askable {
  readonly conditions: Conditions;
  readonly events: GatewayEvents;
  readonly facts: ChainFacts;
  readonly timers?: Pick<Timers, "unixNow">;
  /** Whether the gateway accepts nothing more, so that nobody should come. */
  isClosing?(): boolean;
}

/** All that the servers of a gateway have to know of what can be asked. */
export interface GatewayTables {
  readonly methods: ListedMethodTable;
  readonly routes: RouteTable;
}

export function createGatewayTables(parts: GatewayParts): GatewayTables {
  const { conditions, events, facts, timers = SYSTEM_TIMERS, isClosing = () => false } = parts;
  const operations = new Operations({ ...parts, timers });
  const surroundings = { operations, facts, timers, extensions: new Extensions(operations, conditions) };
  const groups = methodGroups.map(({ title, methods }) => ({
    title,
    methods: methods.filter((method) => refusalOf(method) === undefined),
  }));
  const own = ownMethods({ conditions, events, isClosing, groups });
  const byName = new Map<string, CallableMethod>();
  const routes: RestRoute[] = [];
  for (const method of methodGroups.flatMap(({ methods }) => methods)) {
    const compose = own[method.name];
    const served = compose ? composedMethod(method, compose, surroundings) : servedMethod(method, surroundings);
    const callable = callableMethod(method, served);
    for (const name of [method.name, ...method.aliases]) byName.set(name, callable);
    for (const path of method.rest) routes.push(routeAt(method, path, handlerAt(method, path, served, events)));
  }
  const methods: ListedMethodTable = {
    entries: () => byName.entries(),
    find: (name) => byName.get(name),
    suggest: (name) => nearestName(name, byName.keys()),
  };
  return { methods, routes };
}

function servedMethod(method: Method, surroundings: Surroundings): ServedMethod {
  const reason = refusalOf(method);
  if (reason !== undefined) return refusedMethod(reason);
  const compose = COMPOSED[method.sameAs ?? method.name];
  if (compose) return composedMethod(method, compose, surroundings);
  const standIn = standInOf(method);
  if (standIn) return standardMethod(method, standIn, surroundings);
  return extensionMethod(method, COMPOSED_OTHERWISE[method.name], surroundings);
}

/** Nobody in this process stops waiting. */
const FOR_EVER: Waiting = { signal: new AbortController().signal };

function callableMethod(method: Method, served: ServedMethod): CallableMethod {
  const { name, cost, access, rest } = method;
  return {
    name,
    cost,
    access,
    takesLargeBody: method.takesLargeBody ?? rest.some(({ verb, takesText }) => verb === "POST" && !takesText),
    call: (params, caller, waiting = FOR_EVER) => served.call(params, waiting, caller),
    ...(served.callByMessage && {
      callByMessage: (message, _caller, waiting = FOR_EVER) => served.callByMessage!(message, waiting),
    }),
  };
}

type Handler = (request: RestRequest) => Promise<RestAnswer>;

function routeAt(method: Method, path: RestPath, handle: Handler): RestRoute {
  return {
    method: method.name,
    verb: path.verb,
    path: path.path,
    access: method.access,
    isProbe: method.isProbe,
    ...(method.feed ? { answers: [], accepts: [] } : routeFormats(method, path)),
    handle,
  };
}

function handlerAt(method: Method, path: RestPath, served: ServedMethod, events: GatewayEvents): Handler {
  if (!method.feed) return served.at(path);
  const reader = new RequestReader(method.restParams, path);
  return async (request) => {
    const { topics } = await reader.args(request, undefined);
    return { status: 200, feed: events.feed(topics as string[]) };
  };
}
