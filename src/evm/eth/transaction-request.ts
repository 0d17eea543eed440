/** Fields of a transaction to be signed or called, as in `GenericTransaction` of execution-apis. */
export interface TransactionRequest {
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
  readonly chainId?: bigint;
  readonly type?: number;
  readonly accessList?: readonly AccessListEntry[];
  readonly blobVersionedHashes?: readonly Uint8Array[];
  readonly authorizationList?: readonly Authorization[];
}

/** EIP-2930. */
export interface AccessListEntry {
  readonly address: Uint8Array;
  readonly storageKeys: readonly Uint8Array[];
}

/** EIP-7702, signed. */
export interface Authorization {
  readonly chainId: bigint;
  readonly address: Uint8Array;
  readonly nonce: bigint;
  readonly yParity: bigint;
  readonly r: bigint;
  readonly s: bigint;
}
