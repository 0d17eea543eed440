import findMyWay from "find-my-way";
import { HttpRefusal } from "../http/refusal.ts";
import type { RestRoute, RouteTable } from "./route-table.ts";

const PLACEHOLDER = /\{(\w+)\}/g;

/** A path with all its routes. */
export interface ServedPath {
  path: string;
  /** The verbs that it is asked with. */
  verbs: readonly string[];
  /** The value of the header Allow. */
  allow: string;
  routes: RestRoute[];
}

interface FoundRoute {
  /** Undefined where nothing is served. */
  path?: ServedPath;
  /** Undefined where the path is served, but not with this verb. */
  route?: RestRoute | undefined;
  /** The values of the placeholders, decoded. */
  params: Record<string, string>;
}

/** Finds the route of a request by its verb and URL. */
export class RouteFinder {
  readonly #router: findMyWay.Instance<findMyWay.HTTPVersion.V1>;

  /** Placeholders stand for values of up to `maxParamLength` characters. */
  constructor(table: RouteTable, maxParamLength: number) {
    // Without `onBadUrl` the router finds nothing where a URL cannot be decoded; with it, a handler without a store.
    this.#router = findMyWay({ maxParamLength, onBadUrl: () => {}, querystringParser: () => ({}) });
    for (const served of servedPaths(table)) {
      // The verb is looked at only once the path is found, to tell a wrong verb from a wrong path.
      this.#router.on("GET", served.path.replaceAll(PLACEHOLDER, ":$1"), () => {}, served);
    }
  }

  /** @throws HttpRefusal for a path that is not percent-encoded UTF-8 */
  find(verb: string, url: string): FoundRoute {
    const found = this.#router.find("GET", url);
    if (found === null) return { params: {} };
    const path = found.store as ServedPath | null;
    if (path === null) throw new HttpRefusal(400, "The path of the request is not percent-encoded UTF-8.");
    const asked = verb === "HEAD" ? "GET" : verb;
    const route = path.routes.find((each) => each.verb === asked);
    return { path, route, params: found.params as Record<string, string> };
  }
}

function servedPaths(table: RouteTable): ServedPath[] {
  const byPath = new Map<string, RestRoute[]>();
  for (const route of table) {
    const same = byPath.get(route.path) ?? [];
    if (same.some(({ verb }) => verb === route.verb)) {
      throw new Error(`Two routes answer ${route.verb} ${route.path}.`);
    }
    byPath.set(route.path, [...same, route]);
  }
  return [...byPath].map(([path, routes]) => {
    const verbs = routes.flatMap(({ verb }) => (verb === "GET" ? ["GET", "HEAD"] : [verb]));
    return { path, routes, verbs, allow: [...verbs, "OPTIONS"].join(", ") };
  });
}
