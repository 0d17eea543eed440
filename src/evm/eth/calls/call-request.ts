import type { Withdrawal } from "../../execution/block.ts";
import type { TransactionRequest } from "../transaction-request.ts";

/** A call has the fields of a transaction. The transaction type is derived from these fields. */
export type CallRequest = TransactionRequest;

type Slots = readonly (readonly [slot: Uint8Array, value: Uint8Array])[];

/** State override for one account in a call. */
export interface AccountOverride {
  readonly nonce?: bigint;
  readonly balance?: bigint;
  readonly code?: Uint8Array;
  /** Replaces the entire storage. */
  readonly state?: Slots;
  /** Replaces individual slots. */
  readonly stateDiff?: Slots;
  /** Moves a precompile to another address. */
  readonly movePrecompileToAddress?: Uint8Array;
}

export type StateOverrides = readonly (readonly [address: Uint8Array, override: AccountOverride])[];

/** Header overrides for a call. */
export interface BlockOverrides {
  readonly number?: bigint;
  readonly time?: bigint;
  readonly gasLimit?: bigint;
  readonly feeRecipient?: Uint8Array;
  readonly prevRandao?: Uint8Array;
  readonly baseFeePerGas?: bigint;
  readonly blobBaseFee?: bigint;
  /** Only for simulated blocks. */
  readonly beaconRoot?: Uint8Array;
  /** Only for simulated blocks. */
  readonly withdrawals?: readonly Withdrawal[];
}

/** A block to simulate with `eth_simulateV1`. */
export interface SimulatedBlock {
  readonly blockOverrides?: BlockOverrides;
  readonly stateOverrides?: StateOverrides;
  readonly calls?: readonly CallRequest[];
}

/** Parameters of `eth_simulateV1`. */
export interface Simulation {
  readonly blockStateCalls: readonly SimulatedBlock[];
  /** Adds a log for each ETH transfer. */
  readonly traceTransfers?: boolean;
  /** Enforces the rules of real transactions: nonces, fees and balances. */
  readonly validation?: boolean;
  readonly returnFullTransactions?: boolean;
}
