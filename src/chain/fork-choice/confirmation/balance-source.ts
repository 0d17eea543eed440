/** Balances of a state by which votes are weighed. */
export interface BalanceSource {
  /** Effective balances in increments of 1 ETH; zero for inactive or slashed validators. */
  readonly balances: Uint16Array;
  /** Total active balance including slashed validators, in increments. */
  readonly totalActive: number;
  /** Effective balances of all validators, including inactive and slashed ones. */
  readonly effectiveBalances: Uint16Array;
  /** True for validators that are active, even if they are slashed. */
  isActive(validator: number): boolean;
}

const GWEI_PER_INCREMENT = 1_000_000_000n;

/** Total balances in Gwei exceed the integers that a number can hold. */
export const toGwei = (increments: number): bigint => BigInt(increments) * GWEI_PER_INCREMENT;
