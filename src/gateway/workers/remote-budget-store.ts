import type { BudgetStore } from "../clients/budget-store.ts";

type SendCount = (id: number, counter: string, amount: number, ttlSeconds: number) => void;

/** Counters in the primary process, as seen by a worker. */
export class RemoteBudgetStore implements BudgetStore {
  readonly #send: SendCount;
  readonly #waiting = new Map<number, (total: number) => void>();
  #lastId = 0;

  constructor(send: SendCount) {
    this.#send = send;
  }

  add(counter: string, amount: number, ttlSeconds: number): Promise<number> {
    return new Promise((resolve) => {
      const id = ++this.#lastId;
      this.#waiting.set(id, resolve);
      this.#send(id, counter, amount, ttlSeconds);
    });
  }

  /** Handles the answer of the primary process. */
  onCounted(id: number, total: number): void {
    this.#waiting.get(id)?.(total);
    this.#waiting.delete(id);
  }

  async close(): Promise<void> {}
}
