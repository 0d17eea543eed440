import type { MethodDefinition, RestPath } from "../../api/definition.ts";
import type { Cancellation } from "../../server/method-table.ts";
import { isUnsupportedPath } from "../upstream/requests/error-response.ts";
import type { UpstreamResponse } from "../upstream/upstream-call.ts";
import type { HealthTracker } from "../upstream/upstream-health.ts";
import type { Request, StandardOperations } from "./standard-operations.ts";

/** Returns the path of a nonstandard method on upstreams. Fanal also serves the paths of Nimbus. */
export function extensionPath({ name, rest }: MethodDefinition): RestPath {
  const path = rest.find((each) => each.path.startsWith("/nimbus/")) ?? rest.at(-1);
  if (path === undefined) throw new Error(`${name} has no REST path.`);
  return path;
}

/**
 * Sends nonstandard methods to upstreams that support them. Remembers upstreams without support until their version
 * changes.
 */
export class Extensions {
  readonly #operations: StandardOperations;
  readonly #health: HealthTracker;
  /** Versions of upstreams without a method, by method and upstream. */
  readonly #unsupported = new Map<string, Map<string, string | undefined>>();

  constructor(operations: StandardOperations, health: HealthTracker) {
    this.#operations = operations;
    this.#health = health;
  }

  /** Returns undefined if no upstream supports the method. */
  async request(
    method: MethodDefinition,
    request: Request,
    cancellation: Cancellation,
  ): Promise<UpstreamResponse | undefined> {
    for (;;) {
      const deprioritized = this.#knownUnsupported(method.name);
      if (this.#health.all.every(({ upstream }) => deprioritized.has(upstream))) return undefined;
      const response = await this.#operations.request(method, request, { cancellation, deprioritized });
      if (!isUnsupportedPath(response)) return response;
      // All other upstreams are unavailable.
      if (deprioritized.has(response.upstream)) return undefined;
      this.#recordUnsupported(method.name, response.upstream);
    }
  }

  #recordUnsupported(method: string, upstream: string): void {
    const ofMethod = this.#unsupported.get(method) ?? new Map<string, string | undefined>();
    this.#unsupported.set(method, ofMethod.set(upstream, this.#health.of(upstream).version));
  }

  /** Forgets an upstream whose version has changed. */
  #knownUnsupported(method: string): ReadonlySet<string> {
    const ofMethod = this.#unsupported.get(method);
    const deprioritized = new Set<string>();
    for (const { upstream, version } of ofMethod ? this.#health.all : []) {
      if (ofMethod!.has(upstream) && ofMethod!.get(upstream) === version) deprioritized.add(upstream);
    }
    return deprioritized;
  }
}
