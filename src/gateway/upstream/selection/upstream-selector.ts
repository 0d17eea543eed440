import type { UpstreamClient } from "../client/upstream-client.ts";
import { type HealthState, type HealthTracker, isUsable, type UpstreamHealth } from "../upstream-health.ts";

/** Which upstreams a request may go to. */
export interface RouteConstraints {
  /** True if the upstream's head must have reached the head floor. */
  readonly isHeadBound: boolean;
  /** Upstreams that already got the request. */
  readonly tried: readonly UpstreamClient[];
  /** Upstream of the sticky route. Selected unless another upstream ranks better. */
  readonly preferred?: string | undefined;
  /** Upstreams that are selected only if there is no other. */
  readonly deprioritized?: ReadonlySet<string> | undefined;
  /** Breaks ties, so that all gateways select the same upstream for a slot. */
  readonly slot?: number | undefined;
  /** Only upstreams with one of these tags are selected. */
  readonly tags?: readonly string[] | undefined;
  /** True for a confirmation read: late and unresponsive upstreams are skipped. */
  readonly isConfirmation?: boolean;
}

/** Which upstream a submission should go to. */
export interface RouteAffinity extends Pick<RouteConstraints, "preferred" | "slot" | "tags"> {
  /** True if only the preferred upstream is likely to accept the submission, so that it is tried first. */
  readonly needsPreferred?: boolean;
}

/** Compared element by element; lower is better. */
type Rank = readonly [isDeprioritized: boolean, isUnresponsive: boolean, isCircuitOpen: boolean, state: number];

interface Candidate {
  readonly client: UpstreamClient;
  readonly rank: Rank;
  /** Pending requests relative to the weight. */
  readonly load: number;
  /** Share of failed requests in the last minute, in tenths. */
  readonly failureTenths: number;
  readonly share: number;
}

/** Selects upstreams by health, then tier, then load, then recent failures, then weighted round robin. */
export class UpstreamSelector {
  readonly #health: Pick<HealthTracker, "of" | "headFloor">;
  /** Requests relative to the weight, by upstream. */
  readonly #shares: Map<UpstreamClient, number>;
  /** Highest share so far. An upstream that returns continues from here instead of getting all requests it missed. */
  #maxShare = 0;

  constructor(clients: readonly UpstreamClient[], health: Pick<HealthTracker, "of" | "headFloor">) {
    this.#health = health;
    this.#shares = new Map(clients.map((client) => [client, 0]));
  }

  /** Returns the best upstream, or undefined if none is available. */
  select(constraints: RouteConstraints): UpstreamClient | undefined {
    let best: Candidate | undefined;
    let preferred: Candidate | undefined;
    let equals: UpstreamClient[] = [];
    for (const [client, share] of this.#shares) {
      const candidate = this.#candidate(client, share, constraints);
      if (candidate === undefined) continue;
      if (client.name === constraints.preferred) preferred = candidate;
      const difference = best === undefined ? -1 : compareRankAndTier(candidate, best);
      if (difference < 0) equals = [];
      if (difference <= 0) equals.push(client);
      if (difference < 0 || (difference === 0 && compareLoad(candidate, best!) < 0)) best = candidate;
    }
    if (preferred && compareRank(preferred.rank, best!.rank) <= 0) return preferred.client;
    return constraints.slot === undefined ? best?.client : equals[constraints.slot % equals.length];
  }

  recordRequest(client: UpstreamClient): void {
    this.#maxShare = Math.max(this.#maxShare, this.#shares.get(client)!);
    this.#shares.set(client, this.#maxShare + 1 / client.options.weight);
    client.breaker.recordRequest();
  }

  /** True if an untried upstream is unavailable only because its head is below the head floor. */
  hasLaggingUpstream(
    tried: readonly UpstreamClient[],
    { tags, includesLate = true }: { tags?: readonly string[] | undefined; includesLate?: boolean } = {},
  ): boolean {
    return [...this.#shares.keys()].some((client) => {
      const health = this.#health.of(client.name);
      const mayAnswer = hasTag(client, tags) && (includesLate ? isSelectable(health) : isUsable(health));
      return !tried.includes(client) && mayAnswer && !this.#reachesHeadFloor(health);
    });
  }

  /** Why selectable upstreams are saturated, as sentences by upstream. */
  get saturationReasons(): ReadonlyMap<string, string> {
    const selectable = [...this.#shares.keys()].filter(({ name }) => isSelectable(this.#health.of(name)));
    return new Map(
      selectable.flatMap(({ name, saturationReason }): [string, string][] =>
        saturationReason === undefined ? [] : [[name, saturationReason]],
      ),
    );
  }

  /**
   * Returns all available upstreams, the best first. Among those of equal rank, the preferred one comes first, or the
   * one that `select` would return for the slot.
   */
  ranked({ preferred, slot, tags, needsPreferred = false }: RouteAffinity = {}): UpstreamClient[] {
    const constraints = { isHeadBound: false, tried: [], tags };
    const candidates = [...this.#shares].flatMap(
      ([client, share]) => this.#candidate(client, share, constraints) ?? [],
    );
    const first = candidates.some(({ client }) => client.name === preferred)
      ? preferred
      : slot !== undefined && this.select({ ...constraints, slot })?.name;
    const isOther = ({ client }: Candidate) => Number(client.name !== first);
    return candidates
      .sort(
        (a, b) =>
          (needsPreferred ? isOther(a) - isOther(b) : 0) ||
          compareRank(a.rank, b.rank) ||
          isOther(a) - isOther(b) ||
          compareRankAndTier(a, b) ||
          compareLoad(a, b),
      )
      .map(({ client }) => client);
  }

  #candidate(client: UpstreamClient, share: number, constraints: RouteConstraints): Candidate | undefined {
    const { isHeadBound, tried, deprioritized, tags, isConfirmation } = constraints;
    if (tried.includes(client) || client.isSaturated || !hasTag(client, tags)) return undefined;
    const health = this.#health.of(client.name);
    const state = STATE_RANKS[health.state];
    if (state === undefined || (isHeadBound && !this.#reachesHeadFloor(health))) return undefined;
    if (isConfirmation && (health.state === "late" || client.isUnresponsive)) return undefined;
    const { breaker } = client;
    // Requests about a slot are not used as probes, because validators wait for them.
    const isProbe = breaker.isProbeDue && constraints.slot === undefined;
    return {
      client,
      rank: [deprioritized?.has(client.name) ?? false, client.isUnresponsive, breaker.isOpen && !isProbe, state],
      load: client.pendingRequests / client.options.weight,
      failureTenths: isProbe ? 0 : breaker.failureTenths,
      share,
    };
  }

  /** An upstream that was started from a state only does not know its head block. Its head is treated as slot 0. */
  #reachesHeadFloor({ head }: UpstreamHealth): boolean {
    return (head?.slot ?? 0) >= this.#health.headFloor;
  }
}

const STATE_RANKS: Readonly<Record<HealthState, number | undefined>> = {
  ready: 0,
  behind: 1,
  late: 2,
  down: undefined,
  foreign: undefined,
};

const isSelectable = ({ state }: UpstreamHealth): boolean => STATE_RANKS[state] !== undefined;

/** True if the upstream may get requests that are limited to these tags. */
export function hasTag({ options }: UpstreamClient, tags: readonly string[] | undefined): boolean {
  return tags === undefined || (options.tags?.some((tag) => tags.includes(tag)) ?? false);
}

function compareRank(a: Rank, b: Rank): number {
  return Number(a[0]) - Number(b[0]) || Number(a[1]) - Number(b[1]) || Number(a[2]) - Number(b[2]) || a[3] - b[3];
}

function compareRankAndTier(a: Candidate, b: Candidate): number {
  return compareRank(a.rank, b.rank) || a.client.options.tier - b.client.options.tier;
}

function compareLoad(a: Candidate, b: Candidate): number {
  return a.load - b.load || a.failureTenths - b.failureTenths || a.share - b.share;
}
