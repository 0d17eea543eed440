/** Fields of a transaction to be signed or called, like `GenericTransaction` in execution-apis. */
export interface TransactionRequest {
  readonly from?: Uint8Array;
  /** Absent for a contract creation. */
  readonly to?: Uint8Array;
  readonly gas?: bigint;
  readonly gasPrice?: bigint;
  readonly maxFeePerGas?: bigint;
  readonly maxPriorityFeePerGas?: bigint;
  readonly maxFeePerBlobGas?: bigint;
  readonly value?: bigint;
  readonly data?: Uint8Array;
  readonly nonce?: bigint;
  readonly chainId?: bigint;
  readonly type?: number;
  readonly accessList?: readonly AccessListEntry[];
  readonly blobVersionedHashes?: readonly Uint8Array[];
  readonly authorizationList?: readonly Authorization[];
}

/** EIP-2930 access list entry. */
export interface AccessListEntry {
  readonly address: Uint8Array;
  readonly storageKeys: readonly Uint8Array[];
}

/** Signed EIP-7702 authorization. */
export interface Authorization {
  readonly chainId: bigint;
  readonly address: Uint8Array;
  readonly nonce: bigint;
  readonly yParity: bigint;
  readonly r: bigint;
  readonly s: bigint;
}
