import type { Timers } from "../../async/timers.ts";
import type { BuilderSettings } from "../../chain/production/builder-components.ts";

/** Options of the external builder. Loaded before the preset is chosen, so this file imports only types. */
export interface BuilderOptions extends Omit<BuilderSettings, "builder"> {
  /** An http(s) URL. */
  url: string;
  bidTimeoutMs: number;
  /** Timers of a test. */
  timers?: Pick<Timers, "sleep" | "unixNow">;
}

/** The timeout is BUILDER_PROPOSAL_DELAY_TOLERANCE of builder-specs. The rest are defaults of other clients. */
export const DEFAULT_BUILDER_OPTIONS = {
  bidTimeoutMs: 1000,
  boostFactor: 100n,
  missedSlots: { inARow: 3, inAnEpoch: 5 },
} as const satisfies Omit<BuilderOptions, "url">;
