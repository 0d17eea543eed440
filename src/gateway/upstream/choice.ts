import type { Condition, Conditions, Fitness } from "../condition.ts";
import type { UpstreamClient } from "./upstream-client.ts";

/** Whom a request may go to. */
export interface Wish {
  /** Whether only those will do whose head has reached the floor. */
  readonly isHeadBound: boolean;
  /** Those that were asked already. */
  readonly tried: readonly UpstreamClient[];
  /** The one that it belongs to, which is chosen as long as no other is fitter. */
  readonly preferred?: string | undefined;
  /** Those that are chosen only when there is no other. */
  readonly lacking?: ReadonlySet<string> | undefined;
  /** By which all gateways choose the same one of those that are equally good. */
  readonly slot?: number | undefined;
  /** Whether there is an answer already that another is only to confirm, for which nobody will do who is late or silent. */
  readonly isForOpinion?: boolean;
}

/** Whom a submission belongs to. */
export interface Belonging extends Pick<Wish, "preferred" | "slot"> {
  /** Whether others can hardly take it, so that it goes there however fit they are. */
  readonly needsPreferred?: boolean;
}

/** What can be said of an upstream now; the lower, the better. */
interface Standing {
  readonly client: UpstreamClient;
  readonly rank: number;
  readonly load: number;
  readonly share: number;
}

/** Chooses whom to ask: who is ready, of the earliest tier, has the least to do, and has been asked least, by weight. */
export class Choice {
  readonly #conditions: Pick<Conditions, "of" | "floor">;
  /** How much of its share each one has had. */
  readonly #shares: Map<UpstreamClient, number>;
  /** How much those have had who get theirs, so that one who comes back does not get all that it has missed. */
  #share = 0;

  constructor(clients: readonly UpstreamClient[], conditions: Pick<Conditions, "of" | "floor">) {
    this.#conditions = conditions;
    this.#shares = new Map(clients.map((client) => [client, 0]));
  }

  /** Undefined when there is none. */
  choose(wish: Wish): UpstreamClient | undefined {
    let best: Standing | undefined;
    let preferred: Standing | undefined;
    let equals: UpstreamClient[] = [];
    for (const [client, share] of this.#shares) {
      const standing = this.#standing(client, share, wish);
      if (standing === undefined) continue;
      if (client.name === wish.preferred) preferred = standing;
      const difference = best === undefined ? -1 : compareFitness(standing, best);
      if (difference < 0) equals = [];
      if (difference <= 0) equals.push(client);
      if (difference < 0 || (difference === 0 && compareLoad(standing, best!) < 0)) best = standing;
    }
    if (preferred && preferred.rank <= best!.rank) return preferred.client;
    return wish.slot === undefined ? best?.client : equals[wish.slot % equals.length];
  }

  noteAsked(client: UpstreamClient): void {
    this.#share = Math.max(this.#share, this.#shares.get(client)!);
    this.#shares.set(client, this.#share + 1 / client.options.weight);
  }

  /** Whether somebody may be asked as soon as its head has come as far as the floor. */
  isSomebodyLagging(tried: readonly UpstreamClient[]): boolean {
    return [...this.#shares.keys()].some((client) => {
      const condition = this.#conditions.of(client.name);
      return !tried.includes(client) && rankOf(condition) !== undefined && !this.#reachesFloor(condition);
    });
  }

  /** Whether somebody could be asked who has too much to do. */
  get isSomebodyFull(): boolean {
    return [...this.#shares.keys()].some(
      (client) => client.isFull && rankOf(this.#conditions.of(client.name)) !== undefined,
    );
  }

  /** All that can be asked, the best first; of those that are as fit, the one that it belongs to, or would if it were asked first. */
  ranked({ preferred, slot, needsPreferred = false }: Belonging = {}): UpstreamClient[] {
    const wish = { isHeadBound: false, tried: [] };
    const standings = [...this.#shares].flatMap(([client, share]) => this.#standing(client, share, wish) ?? []);
    const belongsTo = standings.some(({ client }) => client.name === preferred)
      ? preferred
      : slot !== undefined && this.choose({ ...wish, slot })?.name;
    const isOther = ({ client }: Standing) => Number(client.name !== belongsTo);
    const isWithout = needsPreferred ? isOther : () => 0;
    return standings
      .sort(
        (a, b) =>
          isWithout(a) - isWithout(b) ||
          a.rank - b.rank ||
          isOther(a) - isOther(b) ||
          compareFitness(a, b) ||
          compareLoad(a, b),
      )
      .map(({ client }) => client);
  }

  #standing(client: UpstreamClient, share: number, wish: Wish): Standing | undefined {
    const { isHeadBound, tried, lacking, isForOpinion } = wish;
    if (tried.includes(client) || client.isFull) return undefined;
    const condition = this.#conditions.of(client.name);
    const rank = rankOf(condition);
    if (rank === undefined || (isHeadBound && !this.#reachesFloor(condition))) return undefined;
    if (isForOpinion && (condition.fitness === "late" || client.isSilent)) return undefined;
    return {
      client,
      rank: rank + (client.isSilent ? SILENT_RANK : 0) + (lacking?.has(client.name) ? LACKING_RANK : 0),
      load: client.underWay / client.options.weight,
      share,
    };
  }

  /** One that was started from a state alone does not know the block of its head, which is no matter while nobody was told of any. */
  #reachesFloor({ head }: Condition): boolean {
    return (head?.slot ?? 0) >= this.#conditions.floor;
  }
}

const RANKS: Readonly<Record<Fitness, number | undefined>> = {
  ready: 0,
  behind: 1,
  late: 2,
  down: undefined,
  foreign: undefined,
};
/** Beyond that of those who are late, and beyond that of those who are also silent. */
const SILENT_RANK = 3;
const LACKING_RANK = 6;

const rankOf = ({ fitness }: Condition): number | undefined => RANKS[fitness];

function compareFitness(a: Standing, b: Standing): number {
  return a.rank - b.rank || a.client.options.tier - b.client.options.tier;
}

function compareLoad(a: Standing, b: Standing): number {
  return a.load - b.load || a.share - b.share;
}
