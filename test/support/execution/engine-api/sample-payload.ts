import type { ForkName } from "@lodestar/params";
import type { ExecutionPayload } from "@lodestar/types";

const hex = (byte: string, bytes: number) => `0x${byte.repeat(bytes)}`;
const filled = (byte: number, bytes: number) => new Uint8Array(bytes).fill(byte);

/** A handwritten payload in Engine API encoding. */
export function samplePayloadJson(fork: ForkName): Record<string, unknown> {
  return {
    parentHash: hex("a1", 32),
    feeRecipient: hex("a2", 20),
    stateRoot: hex("a3", 32),
    receiptsRoot: hex("a4", 32),
    logsBloom: hex("a5", 256),
    prevRandao: hex("a6", 32),
    blockNumber: "0x10",
    gasLimit: "0x1c9c380",
    gasUsed: "0x0",
    timestamp: "0x6553f100",
    extraData: "0xd883",
    baseFeePerGas: "0x1000000000000000000000001",
    blockHash: hex("a7", 32),
    transactions: ["0x02f8", "0x03"],
    ...(fork !== "bellatrix" && {
      withdrawals: [{ index: "0xff", validatorIndex: "0x0", address: hex("a8", 20), amount: "0x773594000" }],
    }),
    ...(fork !== "bellatrix" && fork !== "capella" && { blobGasUsed: "0x20000", excessBlobGas: "0x0" }),
    ...(fork === "gloas" && { blockAccessList: "0xc3c20102", slotNumber: "0x7b" }),
  };
}

/** The same payload decoded. */
export function samplePayload(fork: ForkName): ExecutionPayload {
  return {
    parentHash: filled(0xa1, 32),
    feeRecipient: filled(0xa2, 20),
    stateRoot: filled(0xa3, 32),
    receiptsRoot: filled(0xa4, 32),
    logsBloom: filled(0xa5, 256),
    prevRandao: filled(0xa6, 32),
    blockNumber: 16,
    gasLimit: 30_000_000,
    gasUsed: 0,
    timestamp: 1_700_000_000,
    extraData: Uint8Array.of(0xd8, 0x83),
    baseFeePerGas: 2n ** 96n + 1n,
    blockHash: filled(0xa7, 32),
    transactions: [Uint8Array.of(2, 0xf8), Uint8Array.of(3)],
    ...(fork !== "bellatrix" && {
      withdrawals: [{ index: 255, validatorIndex: 0, address: filled(0xa8, 20), amount: 32_000_000_000n }],
    }),
    ...(fork !== "bellatrix" && fork !== "capella" && { blobGasUsed: 131_072n, excessBlobGas: 0n }),
    ...(fork === "gloas" && { blockAccessList: Uint8Array.of(0xc3, 0xc2, 1, 2), slotNumber: 123 }),
  };
}
