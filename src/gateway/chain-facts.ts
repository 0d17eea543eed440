/** Of the chain that the upstreams follow, what the gateway goes by; a plain value, which can be sent to another process. */
export interface ChainFacts {
  readonly presetBase: "mainnet" | "minimal" | "gnosis";
  readonly genesisValidatorsRoot: string;
  /** Unix seconds. */
  readonly genesisTime: number;
  readonly secondsPerSlot: number;
  readonly slotsPerEpoch: number;
}

/** The slot that it is, by the clock of this machine. */
export function slotAt({ genesisTime, secondsPerSlot }: ChainFacts, unixMillis: number): number {
  return Math.max(0, Math.floor((unixMillis / 1000 - genesisTime) / secondsPerSlot));
}
