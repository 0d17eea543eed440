import type { phase0, RootHex } from "@lodestar/types";
import { fromHex, toHex } from "@lodestar/utils";
import { z } from "zod";

/** Keccak-256 of DepositEvent(bytes,bytes,bytes,bytes,bytes), the contract's event. */
export const DEPOSIT_EVENT_TOPIC = "0x649bbc62d0e31342afea4e5cd82d4049e7e1ee912fc0889aa790803be39038c5";

/** A deposit parsed from a contract log. */
export interface LoggedDeposit {
  index: number;
  data: phase0.DepositData;
  blockNumber: number;
  blockHash: RootHex;
}

export const QUANTITY = z
  .string()
  .regex(/^0x[0-9a-f]{1,13}$/i)
  .transform(Number);
export const HASH = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/i)
  .transform((text) => text.toLowerCase());

const DEPOSIT_LOG = z.object({
  blockNumber: QUANTITY,
  blockHash: HASH,
  /** Set for logs removed by a reorg. */
  removed: z.boolean().optional(),
  data: z.string().regex(/^0x(?:[0-9a-f]{2})*$/i),
});
export const DEPOSIT_LOGS = z.array(DEPOSIT_LOG);

const WORD_BYTES = 32;
/** Lengths of pubkey, withdrawal credentials, amount, signature and index (phase0/deposit-contract.md). */
const FIELD_BYTES = [48, 32, 8, 96, 8];

/** Parses a deposit log. Throws if the deposit contract cannot have emitted the log. */
export function parseDepositLog(log: z.infer<typeof DEPOSIT_LOG>): LoggedDeposit {
  const bytes = fromHex(log.data);
  const [pubkey, withdrawalCredentials, amount, signature, index] = FIELD_BYTES.map((length, n) =>
    dynamicBytes(bytes, n, length),
  ) as [Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array];
  return {
    index: littleEndian(index),
    data: { pubkey, withdrawalCredentials, amount: littleEndian(amount), signature },
    blockNumber: log.blockNumber,
    blockHash: log.blockHash,
  };
}

/** Decodes the n-th argument of type `bytes` in an ABI encoding. */
function dynamicBytes(bytes: Uint8Array, n: number, length: number): Uint8Array {
  const position = word(bytes, n * WORD_BYTES);
  const start = position + WORD_BYTES;
  if (word(bytes, position) !== length || start + length > bytes.length) {
    throw new Error("the log is not a DepositEvent");
  }
  return bytes.slice(start, start + length);
}

function word(bytes: Uint8Array, position: number): number {
  const end = position + WORD_BYTES;
  return !(end <= bytes.length) ? Number.NaN : Number(toHex(bytes.subarray(position, end)));
}

function littleEndian(bytes: Uint8Array): number {
  return Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
}
