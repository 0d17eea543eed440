import { seededRandom } from "./seeded-random.ts";

/** Seeded random choices. */
export class RandomChoices {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  chance(probability: number): boolean {
    return this.#random() < probability;
  }

  /** Returns an integer between both bounds, inclusive. */
  integer(min: number, max: number): number {
    return min + Math.floor(this.#random() * (max - min + 1));
  }

  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random() * items.length)]!;
  }

  /** Returns a choice with probability proportional to its weight. */
  weighted<T>(choices: readonly (readonly [weight: number, thing: T])[]): T {
    let rest = this.#random() * choices.reduce((total, [weight]) => total + weight, 0);
    for (const [weight, thing] of choices) {
      if (rest < weight) return thing;
      rest -= weight;
    }
    return choices[0]![1];
  }
}
