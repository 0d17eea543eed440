import { yieldToEventLoop } from "../async/time-slice.ts";
import { GossipRefusal, type Outcome } from "../chain/validation/outcome.ts";
import { type ItemFailure, rejected } from "../errors/failure.ts";
import { refusalReason } from "./params/ssz-payload.ts";

/** What validators of one client submit in a slot, so that only longer lists are split. */
const ITEMS_AT_ONCE = 1024;

/**
 * Takes a list of objects: each that is accepted is broadcast, whatever becomes of the others. An object the node already
 * has is as good as accepted, but not broadcast again; any other refusal is the caller's to know.
 */
export async function submitAll<Item extends object, T>(
  items: readonly Item[],
  process: (items: readonly Item[]) => Promise<Outcome<T>[]>,
  broadcast: (item: Item, accepted: T) => void,
): Promise<void> {
  const outcomes: Outcome<T>[] = [];
  for (let start = 0; start < items.length; start += ITEMS_AT_ONCE) {
    if (start > 0) await yieldToEventLoop();
    const some = items.slice(start, start + ITEMS_AT_ONCE);
    for (const [index, outcome] of (await process(some)).entries()) {
      if (outcome.ok) broadcast(some[index]!, outcome.value);
      outcomes.push(outcome);
    }
  }
  requireTaken(items, outcomes);
}

/** The same for a submission of one object. */
export async function submitOne<Item extends object>(
  item: Item,
  process: (item: Item) => Promise<void>,
  broadcast: (item: Item) => void,
): Promise<void> {
  try {
    await process(item);
  } catch (error) {
    if (!(error instanceof GossipRefusal)) throw error;
    if (error.known) return;
    const reason = refusalReason(item, error.message);
    throw rejected(`The submission was rejected: ${reason}`, { detail: reason });
  }
  broadcast(item);
}

function requireTaken(items: readonly object[], outcomes: readonly Outcome<unknown>[]): void {
  const failures: ItemFailure[] = [];
  outcomes.forEach((outcome, index) => {
    if (outcome.ok || outcome.refusal.known) return;
    failures.push({ index, message: refusalReason(items[index]!, outcome.refusal.message) });
  });
  refuseItems(failures, outcomes.length, rejected);
}

/**
 * Tells the caller of the items that were refused, out of so many; the others have taken effect. `refuse` makes the failure of
 * the call: `rejected`, or `invalidParams` for what needs no look at the chain's rules to be wrong.
 */
export function refuseItems(failures: ItemFailure[], count: number, refuse: typeof rejected): void {
  const [first] = failures;
  if (first === undefined) return;
  const part = failures.length === count ? "" : `${failures.length} of ${count} items: `;
  throw refuse(`The submission was rejected: ${part}${first.message}`, { detail: first.message, failures });
}
