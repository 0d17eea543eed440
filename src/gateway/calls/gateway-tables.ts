import type { MethodDefinition, RestPath } from "../../api/definition.ts";
import { methodGroups } from "../../api/method-groups.ts";
import { documentRoutes } from "../../api/rest/documents.ts";
import { RequestParser } from "../../api/rest/request.ts";
import { SYSTEM_TIMERS, type Timers } from "../../async/timers.ts";
import { nearestName } from "../../errors/nearest-name.ts";
import type { CallableMethod, Cancellation, ListedMethodTable } from "../../server/method-table.ts";
import type { RestRequest, RestResponse, RestRoute, RouteTable } from "../../server/rest/route-table.ts";
import type { GatewayEvents } from "../events/gateway-events.ts";
import type { ChainSpec } from "../network/chain-spec.ts";
import type { HealthTracker } from "../upstream/upstream-health.ts";
import { COMPOSED_METHODS, FALLBACK_HANDLERS } from "./composed-methods.ts";
import { Extensions } from "./extensions.ts";
import { gatewayMethods, unsupportedReason } from "./gateway-methods.ts";
import {
  composedMethod,
  extensionMethod,
  type GatewayContext,
  type GatewayMethod,
  ownMethod,
  standardMethod,
  unsupportedMethod,
} from "./method-handlers.ts";
import { mappingOf } from "./operation-mapping.ts";
import { routeFormats } from "./pass-through.ts";
import { StandardOperations, type UpstreamAccess } from "./standard-operations.ts";

interface GatewayTablesDeps extends UpstreamAccess {
  readonly health: HealthTracker;
  readonly events: GatewayEvents;
  readonly chainSpec: ChainSpec;
  readonly timers?: Pick<Timers, "unixNow">;
  /** Number of upstreams that must be usable for readiness. By default 1. */
  quorum?(): number;
  /** True while the gateway shuts down. */
  isClosing?(): boolean;
}

/** The methods and routes of a gateway's servers. */
export interface GatewayTables {
  readonly methods: ListedMethodTable;
  readonly routes: RouteTable;
}

export function createGatewayTables(parts: GatewayTablesDeps): GatewayTables {
  const { health, events, chainSpec, timers = SYSTEM_TIMERS, quorum = () => 1, isClosing = () => false } = parts;
  const operations = new StandardOperations({ ...parts, timers });
  const context = { operations, chainSpec, timers, extensions: new Extensions(operations, health) };
  const groups = methodGroups.map(({ title, methods }) => ({
    title,
    methods: methods.filter((method) => unsupportedReason(method) === undefined),
  }));
  const ownMethods = gatewayMethods({ health, quorum, events, isClosing, groups });
  const byName = new Map<string, CallableMethod>();
  const routes: RestRoute[] = [];
  for (const method of methodGroups.flatMap(({ methods }) => methods)) {
    const ownHandler = ownMethods[method.name];
    const gatewayMethod = ownHandler ? ownMethod(method, ownHandler, context) : createMethod(method, context);
    const callable = callableMethod(method, gatewayMethod);
    for (const name of [method.name, ...method.aliases]) byName.set(name, callable);
    for (const path of method.rest) routes.push(routeAt(method, path, handlerAt(method, path, gatewayMethod, events)));
  }
  const methods: ListedMethodTable = {
    entries: () => byName.entries(),
    find: (name) => byName.get(name),
    suggest: (name) => nearestName(name, byName.keys()),
  };
  return { methods, routes: [...routes, ...documentRoutes(() => groups)] };
}

function createMethod(method: MethodDefinition, context: GatewayContext): GatewayMethod {
  const reason = unsupportedReason(method);
  if (reason !== undefined) return unsupportedMethod(reason);
  const ownHandler = COMPOSED_METHODS[method.sameAs ?? method.name];
  if (ownHandler) return composedMethod(method, ownHandler, context);
  const mapping = mappingOf(method);
  if (mapping) return standardMethod(method, mapping, context);
  return extensionMethod(method, FALLBACK_HANDLERS[method.name], context);
}

/** For callers that never cancel. */
const NEVER_CANCELLED: Cancellation = { signal: new AbortController().signal };

function callableMethod(method: MethodDefinition, gatewayMethod: GatewayMethod): CallableMethod {
  const { name, cost, access, rest } = method;
  return {
    name,
    cost,
    access,
    takesLargeBody: method.takesLargeBody ?? rest.some(({ verb, takesText }) => verb === "POST" && !takesText),
    call: (params, caller, cancellation = NEVER_CANCELLED) => gatewayMethod.call(params, cancellation, caller),
    ...(gatewayMethod.callByJson && {
      callByJson: (params, _caller, cancellation = NEVER_CANCELLED) => gatewayMethod.callByJson!(params, cancellation),
    }),
  };
}

type Handler = (request: RestRequest) => Promise<RestResponse>;

function routeAt(method: MethodDefinition, path: RestPath, handle: Handler): RestRoute {
  return {
    method: method.name,
    verb: path.verb,
    path: path.path,
    access: method.access,
    isProbe: method.isProbe,
    ...(method.feed ? { responseFormats: [], accepts: [] } : routeFormats(method, path)),
    handle,
  };
}

function handlerAt(
  method: MethodDefinition,
  path: RestPath,
  gatewayMethod: GatewayMethod,
  events: GatewayEvents,
): Handler {
  if (!method.feed) return gatewayMethod.at(path);
  const reader = new RequestParser(method.restParams, path);
  return async (request) => {
    const { topics } = await reader.args(request, undefined);
    return { status: 200, feed: events.feed(topics as string[]) };
  };
}
