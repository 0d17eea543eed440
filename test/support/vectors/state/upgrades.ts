import type { CachedBeaconStateFulu } from "@lodestar/state-transition";
import { upgradeStateToGloas } from "@lodestar/state-transition/slot";
import type { VectorCase } from "../vector-case.ts";
import { forkBefore } from "../vector-config.ts";
import { expectPost, forkOf, preState } from "./vector-states.ts";

/** Upgrade from fulu to gloas (tests/formats/forks of the specification). */
export function runUpgrade(vector: VectorCase): void {
  const state: unknown = preState(vector, forkBefore(forkOf(vector)));
  expectPost(vector, upgradeStateToGloas(state as CachedBeaconStateFulu));
}
