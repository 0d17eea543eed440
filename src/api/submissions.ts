import type { IntakeResults } from "../chain/intake.ts";
import { GossipRefusal } from "../chain/validation/outcome.ts";
import { type ItemFailure, rejected } from "../errors.ts";

/** An object the node already has is as good as accepted; any other refusal is the caller's to know. */
export function requireTaken(results: IntakeResults): void {
  const failures: ItemFailure[] = [];
  results.forEach((refusal, index) => {
    if (refusal && !refusal.known) failures.push({ index, message: refusal.message });
  });
  if (failures.length === 0) return;
  const count = failures.length === results.length ? "" : `${failures.length} of ${results.length} items: `;
  throw rejected(`The submission was rejected: ${count}${failures[0]?.message}`, {
    detail: failures[0]?.message,
    failures,
  });
}

/** The same for a submission of one object. */
export async function requireValid(intake: Promise<void>): Promise<void> {
  try {
    await intake;
  } catch (error) {
    if (!(error instanceof GossipRefusal)) throw error;
    if (error.known) return;
    throw rejected(`The submission was rejected: ${error.message}`, { detail: error.message });
  }
}
