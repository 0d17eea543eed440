/** Fields of a transaction to be signed or executed. Absent ones are filled in. */
export interface TransactionRequest {
  from?: Uint8Array;
  to?: Uint8Array | null;
  gas?: bigint;
  gasPrice?: bigint;
  maxFeePerGas?: bigint;
  maxPriorityFeePerGas?: bigint;
  maxFeePerBlobGas?: bigint;
  value?: bigint;
  data?: Uint8Array;
  nonce?: bigint;
  chainId?: bigint;
  type?: number;
  accessList?: readonly AccessListEntry[];
  blobVersionedHashes?: readonly Uint8Array[];
  authorizationList?: readonly Authorization[];
}

/** EIP-2930. */
export interface AccessListEntry {
  address: Uint8Array;
  storageKeys: readonly Uint8Array[];
}

/** EIP-7702, signed. */
export interface Authorization {
  chainId: bigint;
  address: Uint8Array;
  nonce: bigint;
  yParity: bigint;
  r: bigint;
  s: bigint;
}
