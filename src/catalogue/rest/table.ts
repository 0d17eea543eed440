import type { Api } from "../../api/api.ts";
import type { MethodTable } from "../../server/method-table.ts";
import type { RouteTable } from "../../server/rest/route-table.ts";
import { catalogue } from "../catalogue.ts";
import { eventsRoute } from "./events-route.ts";
import { extensionRoutes } from "./extension-routes.ts";
import { methodRoutes } from "./method-routes.ts";
import { standardRoutes } from "./standard-routes.ts";

/** Everything that REST answers. */
export function createRouteTable(api: Api, methods: MethodTable): RouteTable {
  const standard = [...standardRoutes(api, catalogue, methods), eventsRoute(api)];
  return [...standard, ...methodRoutes(catalogue, methods, standard), ...extensionRoutes(methods)];
}
