import type { Withdrawal } from "../../execution/block.ts";
import type { TransactionRequest } from "../transaction-request.ts";

/** A call has the fields of a transaction. Its type follows from the others. */
export type CallRequest = TransactionRequest;

type Slots = readonly (readonly [slot: Uint8Array, value: Uint8Array])[];

/** Replaces parts of an account for a call. */
export interface AccountOverride {
  readonly nonce?: bigint;
  readonly balance?: bigint;
  readonly code?: Uint8Array;
  /** Replaces the whole storage. */
  readonly state?: Slots;
  /** Replaces single slots. */
  readonly stateDiff?: Slots;
  /** Moves a precompile to another address. */
  readonly movePrecompileToAddress?: Uint8Array;
}

export type StateOverrides = readonly (readonly [address: Uint8Array, override: AccountOverride])[];

/** Replaces header fields for a call. */
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

/** A block of `eth_simulateV1`. */
export interface SimulatedBlock {
  readonly blockOverrides?: BlockOverrides;
  readonly stateOverrides?: StateOverrides;
  readonly calls?: readonly CallRequest[];
}

/** Parameters of `eth_simulateV1`. */
export interface Simulation {
  readonly blockStateCalls: readonly SimulatedBlock[];
  /** Adds a log for each transfer of wei. */
  readonly traceTransfers?: boolean;
  /** Applies the rules of real transactions: nonces, fees and balances. */
  readonly validation?: boolean;
  readonly returnFullTransactions?: boolean;
}
