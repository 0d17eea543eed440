/**
 * Settings of the external builder. Components receive the whole object and declare the fields they read with `Pick`.
 */
export interface BuilderSettings {
  /** An http(s) URL. */
  url: string;
  bidTimeoutMs: number;
  /** Default `builder_boost_factor` in percent. */
  boostFactor: bigint;
  /** Number of consecutive missed slots after which the builder is disabled. */
  fallbackSkips: number;
  /** Number of missed slots within the last SLOTS_PER_EPOCH slots after which the builder is disabled. */
  fallbackSkipsPerEpoch: number;
}

/**
 * The timeout is BUILDER_PROPOSAL_DELAY_TOLERANCE from builder-specs. The other values match the defaults of other
 * clients.
 */
export const DEFAULT_BUILDER_SETTINGS: Omit<BuilderSettings, "url"> = {
  bidTimeoutMs: 1000,
  boostFactor: 100n,
  fallbackSkips: 3,
  fallbackSkipsPerEpoch: 5,
};
