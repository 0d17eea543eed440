import { yieldToEventLoop } from "../async/time-slice.ts";
import { GossipValidationError, type Outcome } from "../chain/validation/outcome.ts";
import { type ItemFailure, rejected } from "../errors/failure.ts";
import { rejectionReason } from "./params/ssz-payload.ts";

/** A single validator client typically submits no more than this in a slot. Only longer lists are split. */
const ITEMS_PER_SLICE = 1024;

/**
 * Submits a list of objects. Each accepted object is broadcast, whether or not the others are accepted. Objects that
 * are already known are accepted but not broadcast again.
 */
export async function submitAll<Item extends object, T>(
  items: readonly Item[],
  process: (items: readonly Item[]) => Promise<Outcome<T>[]>,
  broadcast: (item: Item, accepted: T) => void,
): Promise<void> {
  const outcomes: Outcome<T>[] = [];
  for (let start = 0; start < items.length; start += ITEMS_PER_SLICE) {
    if (start > 0) await yieldToEventLoop();
    const some = items.slice(start, start + ITEMS_PER_SLICE);
    for (const [index, outcome] of (await process(some)).entries()) {
      if (outcome.ok) broadcast(some[index]!, outcome.value);
      outcomes.push(outcome);
    }
  }
  throwIfRejected(items, outcomes);
}

/** Submits a single object. */
export async function submitOne<Item extends object>(
  item: Item,
  process: (item: Item) => Promise<void>,
  broadcast: (item: Item) => void,
): Promise<void> {
  try {
    await process(item);
  } catch (error) {
    if (!(error instanceof GossipValidationError)) throw error;
    if (error.known) return;
    const reason = rejectionReason(item, error.message);
    throw rejected(`The submission was rejected: ${reason}`, { detail: reason });
  }
  broadcast(item);
}

function throwIfRejected(items: readonly object[], outcomes: readonly Outcome<unknown>[]): void {
  const failures: ItemFailure[] = [];
  outcomes.forEach((outcome, index) => {
    if (outcome.ok || outcome.refusal.known) return;
    failures.push({ index, message: rejectionReason(items[index]!, outcome.refusal.message) });
  });
  throwIfAnyFailed(failures, outcomes.length, rejected);
}

/**
 * Throws a failure that lists the rejected items. The other items have taken effect. `createFailure` is `rejected`, or
 * `invalidParams` if the items are invalid regardless of the chain.
 */
export function throwIfAnyFailed(failures: ItemFailure[], count: number, createFailure: typeof rejected): void {
  const [first] = failures;
  if (first === undefined) return;
  const part = failures.length === count ? "" : `${failures.length} of ${count} items: `;
  throw createFailure(`The submission was rejected: ${part}${first.message}`, { detail: first.message, failures });
}
