import type { Method, RestPath } from "../../api/definition.ts";
import type { Waiting } from "../../server/method-table.ts";
import type { Conditions } from "../condition.ts";
import type { UpstreamResponse } from "../exchange.ts";
import { lacksPath } from "../upstream/complaint.ts";
import type { Operations, Request } from "./operations.ts";

/** Where upstreams have a method that is none of the standard's: Fanal has the paths of Nimbus, too. */
export function extensionPath({ name, rest }: Method): RestPath {
  const path = rest.find((each) => each.path.startsWith("/nimbus/")) ?? rest.at(-1);
  if (path === undefined) throw new Error(`REST does not have ${name}.`);
  return path;
}

/** Asks upstreams for what only some nodes have. Those who said that they do not are not asked again, as long as they are the same. */
export class Extensions {
  readonly #operations: Operations;
  readonly #conditions: Conditions;
  /** By method and upstream, the version of those that do not have it. */
  readonly #lacking = new Map<string, Map<string, string | undefined>>();

  constructor(operations: Operations, conditions: Conditions) {
    this.#operations = operations;
    this.#conditions = conditions;
  }

  /** Undefined when no upstream has it. */
  async ask(method: Method, request: Request, waiting: Waiting): Promise<UpstreamResponse | undefined> {
    for (;;) {
      const lacking = this.#lackingNow(method.name);
      if (this.#conditions.all.every(({ upstream }) => lacking.has(upstream))) return undefined;
      const response = await this.#operations.ask(method, request, { waiting, lacking });
      if (!lacksPath(response)) return response;
      // None of the others can be asked now.
      if (lacking.has(response.upstream)) return undefined;
      this.#note(method.name, response.upstream);
    }
  }

  #note(method: string, upstream: string): void {
    const ofMethod = this.#lacking.get(method) ?? new Map<string, string | undefined>();
    this.#lacking.set(method, ofMethod.set(upstream, this.#conditions.of(upstream).version));
  }

  /** An upstream that has become another version may have it now. */
  #lackingNow(method: string): ReadonlySet<string> {
    const ofMethod = this.#lacking.get(method);
    const lacking = new Set<string>();
    for (const { upstream, version } of ofMethod ? this.#conditions.all : []) {
      if (ofMethod!.has(upstream) && ofMethod!.get(upstream) === version) lacking.add(upstream);
    }
    return lacking;
  }
}
