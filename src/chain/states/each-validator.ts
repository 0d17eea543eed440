import type { CompositeTypeAny } from "@chainsafe/ssz";
import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import type { phase0, ValidatorIndex } from "@lodestar/types";
import { TimeSlice } from "../../async/time-slice.ts";
import { type ArrayOfElements, elementNodes } from "../../ssz/tree.ts";

/** Number of iterations between checks of the time slice. */
const CHUNK = 8192;

/**
 * Calls `visit` for every validator in index order and regularly yields to the event loop. Calls `throwIfAborted`
 * before each yield; that callback may throw to cancel the iteration.
 */
export async function forEachValidator(
  { validators }: CachedBeaconStateAllForks,
  visit: (validator: phase0.Validator, index: ValidatorIndex) => void,
  throwIfAborted?: () => void,
): Promise<void> {
  validators.commit();
  const type = validators.type as ArrayOfElements;
  const elementType = type.elementType as CompositeTypeAny;
  const slice = new TimeSlice();
  let index = 0;
  for (const node of elementNodes(type, validators.node)) {
    visit(elementType.tree_toValue(node) as phase0.Validator, index);
    index++;
    if (index % CHUNK !== 0) continue;
    throwIfAborted?.();
    await slice.yieldIfDue();
  }
}
