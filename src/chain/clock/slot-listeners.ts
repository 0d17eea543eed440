import type { Slot } from "@lodestar/types";
import type { ListenerErrorHandler, SlotListener } from "./clock.ts";

export class SlotListeners {
  readonly #listeners = new Set<{ listener: SlotListener }>();
  readonly #onError: ListenerErrorHandler;

  constructor(onError: ListenerErrorHandler) {
    this.#onError = onError;
  }

  add(listener: SlotListener): () => void {
    // An entry of its own for every subscription: the same function may be subscribed twice.
    const entry = { listener };
    this.#listeners.add(entry);
    return () => {
      this.#listeners.delete(entry);
    };
  }

  /** Calls every listener now; one promise a listener, which settles with it and never rejects. */
  call(slot: Slot): Promise<void>[] {
    return [...this.#listeners].map(async ({ listener }) => {
      try {
        await listener(slot);
      } catch (error) {
        this.#onError(error, slot);
      }
    });
  }
}
