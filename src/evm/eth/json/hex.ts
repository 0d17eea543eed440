import { toHex } from "../../execution/payload.ts";

/** Encodes an execution-apis QUANTITY: hex without leading zeros. */
export const quantity = (value: bigint | number): string => `0x${value.toString(16)}`;

export const data = (bytes: Uint8Array): string => toHex(bytes);

/** Left-pads bytes to 32 bytes and encodes them as hex. */
export const word = (bytes: Uint8Array): string =>
  `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex").padStart(64, "0")}`;

export const fromHex = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex.slice(2), "hex"));
