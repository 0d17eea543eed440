import type { PendingFuture } from "../debug/future-tracker.ts";
import { unsupported } from "../failure.ts";

/** What the handler asks of whoever keeps track of promises. */
export interface FuturesView {
  pending(): PendingFuture[];
}

export interface FuturesApi {
  getFutures(): PendingFuture[];
}

export function createFuturesApi(futures: FuturesView | undefined): FuturesApi {
  return {
    getFutures() {
      if (futures) return futures.pending();
      throw unsupported("The node does not keep track of futures; start it with --track-futures to have it do so.");
    },
  };
}
