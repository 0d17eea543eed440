import { PendingCalls } from "../../threads/pending-calls.ts";
import type { BudgetStore } from "../clients/budget-store.ts";

type SendCount = (id: number, counter: string, amount: number, ttlSeconds: number) => void;

/** Counters in the primary process, as seen by a worker. */
export class RemoteBudgetStore implements BudgetStore {
  readonly #send: SendCount;
  readonly #pending = new PendingCalls();

  constructor(send: SendCount) {
    this.#send = send;
  }

  add(counter: string, amount: number, ttlSeconds: number): Promise<number> {
    return this.#pending.call((id) => this.#send(id, counter, amount, ttlSeconds));
  }

  /** Handles the answer of the primary process. */
  onCounted(id: number, total: number): void {
    this.#pending.resolve(id, total);
  }

  async close(): Promise<void> {}
}
