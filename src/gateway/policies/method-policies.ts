import type { MethodDefinition } from "../../api/definition.ts";
import type { CallCost } from "../../server/method-table.ts";
import type { MethodPolicySettings } from "../settings.ts";
import { methodMatcher, type NamedMethod } from "./method-patterns.ts";

/** Cost units of a call without a policy, by the cost of its method. */
const UNITS: Readonly<Record<CallCost, number>> = { cheap: 1, duty: 1, state: 5, heavy: 25, evm: 25 };

/** Policies by method. The first pattern that matches applies. */
export class MethodPolicies {
  readonly #definitions: ReadonlyMap<string, MethodDefinition>;
  readonly #policies: readonly (readonly [(method: NamedMethod) => boolean, MethodPolicySettings])[];
  readonly #byName = new Map<string, MethodPolicySettings | undefined>();

  constructor(policies: readonly MethodPolicySettings[], definitions: Iterable<MethodDefinition>) {
    this.#definitions = new Map(Array.from(definitions, (definition) => [definition.name, definition]));
    this.#policies = policies.map((policy) => [methodMatcher(policy.pattern), policy]);
  }

  /** Returns the policy of a method; undefined if there is none. */
  of(name: string): MethodPolicySettings | undefined {
    if (this.#policies.length === 0) return undefined;
    if (!this.#byName.has(name)) {
      const method = this.definitionOf(name);
      this.#byName.set(name, this.#policies.find(([matches]) => matches(method))?.[1]);
    }
    return this.#byName.get(name);
  }

  /** Returns the name and aliases of a method. Documents have no definition. */
  definitionOf(name: string): NamedMethod {
    return this.#definitions.get(name) ?? { name };
  }

  /** Returns the cost units of a call. */
  unitsOf(name: string): number {
    return this.of(name)?.units ?? UNITS[this.#definitions.get(name)?.cost ?? "cheap"];
  }
}
