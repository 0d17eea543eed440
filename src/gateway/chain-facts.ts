/** Of the chain that the upstreams follow, what the gateway goes by; a plain value, which can be sent to another process. */
export interface ChainFacts {
  readonly presetBase: "mainnet" | "minimal" | "gnosis";
  readonly genesisValidatorsRoot: string;
  /** Unix seconds. */
  readonly genesisTime: number;
  readonly secondsPerSlot: number;
  readonly slotsPerEpoch: number;
  /** Every fork that is scheduled, by its name in lower case and its epoch, in their order; phase0 is the first. */
  readonly forks: readonly { readonly name: string; readonly epoch: number }[];
}

/** The slot that it is, by the clock of this machine. */
export function slotAt({ genesisTime, secondsPerSlot }: ChainFacts, unixMillis: number): number {
  return Math.max(0, Math.floor((unixMillis / 1000 - genesisTime) / secondsPerSlot));
}

export function forkAt({ forks, slotsPerEpoch }: ChainFacts, slot: number): string {
  const epoch = Math.floor(slot / slotsPerEpoch);
  return forks.findLast((fork) => fork.epoch <= epoch)?.name ?? "phase0";
}
