/** A call, as in `GenericTransaction` of execution-apis. */
export interface CallRequest {
  readonly from?: Uint8Array;
  /** Absent for the creation of a contract. */
  readonly to?: Uint8Array;
  readonly gas?: bigint;
  readonly gasPrice?: bigint;
  readonly maxFeePerGas?: bigint;
  readonly maxPriorityFeePerGas?: bigint;
  readonly maxFeePerBlobGas?: bigint;
  readonly value?: bigint;
  readonly data?: Uint8Array;
  readonly nonce?: bigint;
  readonly accessList?: readonly AccessListEntry[];
  readonly authorizationList?: readonly Authorization[];
  readonly blobVersionedHashes?: readonly Uint8Array[];
}

export interface AccessListEntry {
  readonly address: Uint8Array;
  readonly storageKeys: readonly Uint8Array[];
}

/** EIP-7702. */
export interface Authorization {
  readonly chainId: bigint;
  readonly address: Uint8Array;
  readonly nonce: bigint;
  readonly yParity: bigint;
  readonly r: bigint;
  readonly s: bigint;
}

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
