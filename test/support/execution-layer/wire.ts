import { z } from "zod";

/** Wire format of the Engine API (ethereum/execution-apis). */
export type Hex = `0x${string}`;

function matching(pattern: RegExp, what: string) {
  return z.custom<Hex>((value) => typeof value === "string" && pattern.test(value), `expected ${what}`);
}

export const data = matching(/^0x(?:[0-9a-fA-F]{2})*$/, "DATA");
export const dataOf = (bytes: number) =>
  matching(new RegExp(`^0x[0-9a-fA-F]{${2 * bytes}}$`), `DATA of ${bytes} bytes`);
export const quantity = matching(/^0x(?:0|[1-9a-fA-F][0-9a-fA-F]*)$/, "QUANTITY");

export const hash = dataOf(32);
export const address = dataOf(20);

const withdrawal = z.strictObject({ index: quantity, validatorIndex: quantity, address, amount: quantity });

export const payloadV1 = z.strictObject({
  parentHash: hash,
  feeRecipient: address,
  stateRoot: hash,
  receiptsRoot: hash,
  logsBloom: dataOf(256),
  prevRandao: hash,
  blockNumber: quantity,
  gasLimit: quantity,
  gasUsed: quantity,
  timestamp: quantity,
  extraData: data,
  baseFeePerGas: quantity,
  blockHash: hash,
  transactions: z.array(data),
});
export const payloadV2 = payloadV1.extend({ withdrawals: z.array(withdrawal) });
export const payloadV3 = payloadV2.extend({ blobGasUsed: quantity, excessBlobGas: quantity });
/** Payload of any fork. Fields of later forks are absent. */
export type ExecutionPayload = z.infer<typeof payloadV1> & Partial<z.infer<typeof payloadV3>>;

export const attributesV1 = z.strictObject({ timestamp: quantity, prevRandao: hash, suggestedFeeRecipient: address });
export const attributesV2 = attributesV1.extend({ withdrawals: z.array(withdrawal) });
export const attributesV3 = attributesV2.extend({ parentBeaconBlockRoot: hash });
export type PayloadAttributes = z.infer<typeof attributesV1> & Partial<z.infer<typeof attributesV3>>;

export const forkchoiceState = z.strictObject({
  headBlockHash: hash,
  safeBlockHash: hash,
  finalizedBlockHash: hash,
});
export type ForkchoiceState = z.infer<typeof forkchoiceState>;

export interface PayloadStatus {
  status: "VALID" | "INVALID" | "SYNCING" | "ACCEPTED";
  latestValidHash: Hex | null;
  validationError: string | null;
}

export interface ForkchoiceAnswer {
  payloadStatus: PayloadStatus;
  payloadId: Hex | null;
}

export interface BlobsBundle {
  commitments: Hex[];
  /** Blob proofs, since Osaka cell proofs. */
  proofs: Hex[];
  blobs: Hex[];
}

/** Result of getPayload. Fields of later forks are absent. */
export interface BuiltPayload {
  executionPayload: ExecutionPayload;
  blockValue: Hex;
  /** Since Cancun. */
  blobsBundle?: BlobsBundle;
  /** Since Cancun. */
  shouldOverrideBuilder?: boolean;
  /** Since Prague. */
  executionRequests?: Hex[];
}

export const ZERO_HASH: Hex = `0x${"00".repeat(32)}`;

export const toQuantity = (value: number | bigint): Hex => `0x${value.toString(16)}`;
