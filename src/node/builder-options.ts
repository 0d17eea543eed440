import type { Timers } from "../async/timers.ts";
import type { BuilderUse } from "../chain/production/builder-use.ts";

/** The builder that a node is to use. This file is read before the preset is chosen, so it imports nothing but types. */
export interface BuilderOptions extends Omit<BuilderUse, "builder"> {
  /** An http(s) URL. */
  url: string;
  bidTimeoutMs: number;
  /** For a builder that is waited for in other time than the real one. */
  timers?: Pick<Timers, "sleep" | "unixNow">;
}

/** BUILDER_PROPOSAL_DELAY_TOLERANCE of builder-specs for bids; the rest is what other clients have. */
export const DEFAULT_BUILDER_OPTIONS = {
  bidTimeoutMs: 1000,
  boostFactor: 100n,
  missedSlots: { inARow: 3, inAnEpoch: 5 },
} as const satisfies Omit<BuilderOptions, "url">;
