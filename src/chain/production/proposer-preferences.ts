import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import type { gloas, RootHex, Slot } from "@lodestar/types";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import { shufflingDependentSlot } from "../fork-choice/head/proposer-boost.ts";
import type { Pools } from "../pools/pools.ts";

export interface PreferencesSource {
  forkChoice: Pick<ForkChoice, "ancestorAtSlot">;
  pools: { readonly seen: Pick<Pools["seen"], "payloads"> };
}

/** Returns the preferences that the proposer of a slot has signed, on the branch of a block; since gloas. */
export function preferencesFor(
  { forkChoice, pools }: PreferencesSource,
  { slot, parentRoot }: { slot: Slot; parentRoot: RootHex },
): gloas.ProposerPreferences | undefined {
  const dependentSlot = shufflingDependentSlot(computeEpochAtSlot(slot), SLOTS_PER_EPOCH);
  const dependentRoot = forkChoice.ancestorAtSlot(parentRoot, dependentSlot);
  return dependentRoot === undefined ? undefined : pools.seen.payloads.preferences.get(slot, dependentRoot)?.message;
}
