import findMyWay from "find-my-way";
import { nearestName } from "../../errors/nearest-name.ts";
import { HttpError } from "../http/http-error.ts";
import type { RestRoute, RouteTable } from "./route-table.ts";

const PLACEHOLDER = /\{(\w+)\}/g;
/** Longer segments are values, such as roots, and are ignored when suggesting paths. */
const MAX_NAME_LENGTH = 20;
const MAX_SEGMENTS = 12;

/** A path and its routes. */
export interface PathEntry {
  path: string;
  /** HTTP methods that the path supports. */
  verbs: readonly string[];
  /** The value for the Allow header. */
  allow: string;
  routes: RestRoute[];
}

interface RouteMatch {
  /** Undefined if the path is unknown. */
  path?: PathEntry;
  /** Undefined if the path does not support the verb. */
  route?: RestRoute | undefined;
  /** Decoded path parameters. */
  params: Record<string, string>;
}

/** Finds the route for a request by its verb and URL. */
export class Router {
  readonly #router: findMyWay.Instance<findMyWay.HTTPVersion.V1>;
  readonly #paths: readonly string[];

  /** `maxParamLength` is the maximum length of path parameters. */
  constructor(table: RouteTable, maxParamLength: number) {
    // If `onBadUrl` is set, a malformed URL yields a match without a store.
    this.#router = findMyWay({ maxParamLength, onBadUrl: () => {}, querystringParser: () => ({}) });
    const paths = servedPaths(table);
    this.#paths = paths.map(({ path }) => path);
    for (const served of paths) {
      // All paths are registered as GET. The verb is checked later, to distinguish 405 from 404.
      this.#router.on("GET", served.path.replaceAll(PLACEHOLDER, ":$1"), () => {}, served);
    }
  }

  /** Throws an `HttpError` if the path is not valid percent-encoded UTF-8. */
  find(verb: string, url: string): RouteMatch {
    const match = this.#router.find("GET", url);
    if (match === null) return { params: {} };
    const path = match.store as PathEntry | null;
    if (path === null) throw new HttpError(400, "The path is not percent-encoded UTF-8.", {}, "invalid-params");
    const routeVerb = verb === "HEAD" ? "GET" : verb;
    const route = path.routes.find((each) => each.verb === routeVerb);
    return { path, route, params: match.params as Record<string, string> };
  }

  /** Returns the path that is most similar to an unknown one. Parameters are shown as names in braces. */
  suggest(unknown: string): string | undefined {
    // Several paths begin with the unknown one, and none of them is a better guess than the others.
    if (this.#paths.some((path) => path.startsWith(unknown))) return undefined;
    const segments = unknown.split("/", MAX_SEGMENTS).map((each) => (each.length > MAX_NAME_LENGTH ? "" : each));
    const candidates = new Map<string, string>();
    for (const path of this.#paths) {
      // Replaces parameters with the values at the same positions, so that only the names are compared.
      const filled = path.split("/").map((segment, index) => (segment.startsWith("{") ? segments[index] : segment));
      candidates.set(filled.join("/"), path);
    }
    const nearest = nearestName(segments.join("/"), candidates.keys());
    return nearest === undefined ? undefined : candidates.get(nearest);
  }
}

function servedPaths(table: RouteTable): PathEntry[] {
  const byPath = new Map<string, RestRoute[]>();
  for (const route of table) {
    const same = byPath.get(route.path) ?? [];
    if (same.some(({ verb }) => verb === route.verb)) {
      throw new Error(`Duplicate route: ${route.verb} ${route.path}`);
    }
    byPath.set(route.path, [...same, route]);
  }
  return [...byPath].map(([path, routes]) => {
    const verbs = routes.flatMap(({ verb }) => (verb === "GET" ? ["GET", "HEAD"] : [verb]));
    return { path, routes, verbs, allow: [...verbs, "OPTIONS"].join(", ") };
  });
}
