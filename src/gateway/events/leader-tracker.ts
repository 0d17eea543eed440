import type { Timers } from "../../async/timers.ts";
import type { ChainSpec } from "../network/chain-spec.ts";
import type { HealthTracker } from "../upstream/upstream-health.ts";
import { electLeader } from "./leader-election.ts";
import type { UpstreamEventSource } from "./upstream-event-source.ts";

/** Maximum delay of the leader's head event behind another upstream's, as a share of a slot. */
const LATE_SLOT_SHARE = 1 / 24;

export interface LeaderTrackerOptions {
  readonly chainSpec: ChainSpec;
  readonly health: Pick<HealthTracker, "of">;
  readonly timers: Timers;
  /** Called when the leader changes. */
  onLeader(leader: UpstreamEventSource | undefined): void;
}

/** Keeps track of the upstream whose chain events are published. */
export class LeaderTracker {
  readonly #options: LeaderTrackerOptions;
  readonly #closing = new AbortController();
  readonly #late = new Set<UpstreamEventSource>();
  #sources: readonly UpstreamEventSource[] = [];
  #leader: UpstreamEventSource | undefined;
  /** The leader whose head event is awaited. */
  #checked: UpstreamEventSource | undefined;

  constructor(options: LeaderTrackerOptions) {
    this.#options = options;
  }

  get leader(): UpstreamEventSource | undefined {
    return this.#leader;
  }

  setSources(sources: readonly UpstreamEventSource[]): void {
    this.#sources = sources;
    for (const source of this.#late) if (!sources.includes(source)) this.#late.delete(source);
    this.elect();
  }

  close(): void {
    this.#closing.abort();
  }

  elect(): void {
    if (this.#closing.signal.aborted) return;
    const { health, onLeader } = this.#options;
    const candidates = this.#sources
      .filter(({ isConnected }) => isConnected)
      .map((source) => ({
        source,
        tier: source.tier,
        state: health.of(source.name).state,
        headSlot: headSlotOf(source),
        isLate: this.#late.has(source),
        isLeader: source === this.#leader,
      }));
    const leader = electLeader(candidates)?.source;
    if (leader === this.#leader) return;
    this.#leader = leader;
    onLeader(leader);
  }

  /**
   * Called for every head event. Marks the leader as late if it does not announce the slot soon after another upstream.
   */
  onHead(source: UpstreamEventSource): void {
    const leader = this.#leader;
    if (this.#late.has(source) && (!leader || headSlotOf(source) >= headSlotOf(leader))) {
      this.#late.delete(source);
      this.elect();
    }
    if (!leader || this.#checked || headSlotOf(source) <= headSlotOf(leader) || !this.#isReady(source)) return;
    this.#checked = leader;
    void this.#pause().then(() => {
      this.#checked = undefined;
      if (leader !== this.#leader || headSlotOf(leader) >= headSlotOf(source)) return;
      this.#late.add(leader);
      this.elect();
    });
  }

  #isReady({ name }: UpstreamEventSource): boolean {
    return this.#options.health.of(name).state === "ready";
  }

  #pause(): Promise<void> {
    const { chainSpec, timers } = this.#options;
    return timers.sleep(LATE_SLOT_SHARE * chainSpec.secondsPerSlot * 1000, this.#closing.signal).catch(() => {});
  }
}

const headSlotOf = ({ log }: UpstreamEventSource): number => log.head?.slot ?? -1;
