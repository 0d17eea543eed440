import { hash } from "node:crypto";
import type { Timers } from "../../async/timers.ts";
import {
  type ApiClient,
  type ApiClients,
  type BudgetRejection,
  type CalledMethod,
  KEY_REVOKED,
} from "../../server/http/access/api-clients.ts";
import type { GatewayObserver } from "../metrics/gateway-observer.ts";
import { methodMatcher, type NamedMethod } from "../policies/method-patterns.ts";
import type { MethodPolicies } from "../policies/method-policies.ts";
import type { ClientSettings } from "../settings.ts";
import { Budget } from "./budget.ts";
import type { BudgetStore } from "./budget-store.ts";

interface ClientRegistryOptions {
  readonly store: BudgetStore;
  readonly timers: Pick<Timers, "unixNow">;
  readonly observer?: Pick<GatewayObserver, "onClientCall"> | undefined;
}

/** Clients of the gateway by the hash of their key. Their settings can change at any time. */
export class ClientRegistry implements ApiClients {
  readonly #options: ClientRegistryOptions;
  /** By hash of the key. Requests without a key use the entry "". */
  #clients: ReadonlyMap<string, GatewayClient> = new Map();
  readonly #listeners: (() => void)[] = [];

  constructor(options: ClientRegistryOptions) {
    this.#options = options;
  }

  get isRequired(): boolean {
    return this.#clients.size > 0;
  }

  find(key: string | undefined): ApiClient | undefined {
    return this.#clients.get(key === undefined ? "" : hash("sha256", key));
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Replaces all settings. Calls of removed keys that are already running make no further calls. */
  update(settings: readonly ClientSettings[], policies: MethodPolicies): void {
    const before = this.#clients;
    this.#clients = new Map(
      settings.map((client) => {
        const key = client.keyHash ?? "";
        const existing = before.get(key) ?? new GatewayClient(this.#options);
        existing.update(client, policies);
        return [key, existing] as const;
      }),
    );
    for (const [key, client] of before) if (!this.#clients.has(key)) client.revoke();
    for (const listener of this.#listeners) listener();
  }
}

const SECONDS_PER_DAY = 86_400;

/** A budget and the unit in which calls are charged. */
interface Charge {
  readonly budget: Budget;
  readonly noun: "requests" | "units";
  readonly per: "second" | "day";
}

class GatewayClient implements ApiClient {
  readonly #options: ClientRegistryOptions;
  #settings: ClientSettings = { name: "", classes: [], budget: {} };
  #policies: MethodPolicies | undefined;
  #isAllowed: (method: NamedMethod) => boolean = () => true;
  #charges: readonly Charge[] = [];
  #isRevoked = false;

  constructor(options: ClientRegistryOptions) {
    this.#options = options;
  }

  get name(): string {
    return this.#settings.name;
  }

  update(settings: ClientSettings, policies: MethodPolicies): void {
    const before = JSON.stringify([this.#settings.name, this.#settings.budget]);
    this.#settings = settings;
    this.#policies = policies;
    const matchers = settings.methods?.map(methodMatcher);
    this.#isAllowed = matchers ? (method) => matchers.some((matches) => matches(method)) : () => true;
    // An unchanged budget keeps what is reserved.
    if (JSON.stringify([settings.name, settings.budget]) !== before) this.#charges = this.#createCharges();
  }

  revoke(): void {
    this.#isRevoked = true;
  }

  denialReason({ name, access }: CalledMethod): string | undefined {
    if (this.#isRevoked) return KEY_REVOKED;
    const { classes, name: client } = this.#settings;
    if (!classes.includes(access)) {
      return `Client "${client}" may not call methods of class "${access}", only of ${classes.join(", ")}.`;
    }
    return this.#isAllowed(this.#policies!.definitionOf(name)) ? undefined : `Client "${client}" may not call ${name}.`;
  }

  charge({ name }: CalledMethod): BudgetRejection | undefined | Promise<BudgetRejection | undefined> {
    const units = this.#policies!.unitsOf(name);
    const amounts = this.#charges.map(({ noun }) => (noun === "units" ? units : 1));
    const exhausted = this.#charges.findIndex(({ budget }, index) => !budget.takeReserved(amounts[index]!));
    if (exhausted === -1) return this.#admit(units);
    this.#refund(amounts.slice(0, exhausted));
    return this.#chargeSlowly(amounts, units);
  }

  /** Waits for the shared counters. */
  async #chargeSlowly(amounts: readonly number[], units: number): Promise<BudgetRejection | undefined> {
    const charges = this.#charges;
    for (const [index, { budget, noun, per }] of charges.entries()) {
      if (await budget.take(amounts[index]!)) continue;
      if (charges === this.#charges) this.#refund(amounts.slice(0, index));
      this.#options.observer?.onClientCall(this.name, "rejected", 0);
      const retryAfterSeconds = budget.secondsToNextWindow;
      const cost = noun === "units" ? ` This call costs ${units}.` : "";
      return {
        message:
          `Budget of client "${this.name}" exceeded: ${budget.limit} ${noun} per ${per}.${cost} ` +
          `Retry in ${retryAfterSeconds} s.`,
        retryAfterSeconds,
      };
    }
    return this.#admit(units);
  }

  #admit(units: number): undefined {
    this.#options.observer?.onClientCall(this.name, "admitted", units);
  }

  #refund(amounts: readonly number[]): void {
    for (const [index, amount] of amounts.entries()) this.#charges[index]!.budget.refund(amount);
  }

  #createCharges(): Charge[] {
    const { requestsPerSecond, requestsPerDay, unitsPerSecond, unitsPerDay } = this.#settings.budget;
    const create = (noun: Charge["noun"], per: Charge["per"], limit: number | undefined): Charge[] => {
      if (limit === undefined) return [];
      const windowSeconds = per === "day" ? SECONDS_PER_DAY : 1;
      const name = `client:${this.name}:${noun}`;
      return [{ noun, per, budget: new Budget({ ...this.#options, name, limit, windowSeconds }) }];
    };
    return [
      ...create("requests", "second", requestsPerSecond),
      ...create("requests", "day", requestsPerDay),
      ...create("units", "second", unitsPerSecond),
      ...create("units", "day", unitsPerDay),
    ];
  }
}
