/** How many requests are served at a time. */
export class InboundPlaces {
  readonly #perKind: number;
  readonly #total: number;
  readonly #taken = new Map<string, number>();
  #takenInAll = 0;

  constructor(perKind: number, total: number) {
    this.#perKind = perKind;
    this.#total = total;
  }

  isFull(): boolean {
    return this.#takenInAll >= this.#total;
  }

  isFullFor(kind: string): boolean {
    return (this.#taken.get(kind) ?? 0) >= this.#perKind;
  }

  enter(kind: string): void {
    this.#takenInAll++;
    this.#taken.set(kind, (this.#taken.get(kind) ?? 0) + 1);
  }

  leave(kind: string): void {
    this.#takenInAll--;
    const taken = (this.#taken.get(kind) ?? 0) - 1;
    if (taken > 0) this.#taken.set(kind, taken);
    else this.#taken.delete(kind);
  }
}
