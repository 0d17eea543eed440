import { type phase0, ssz } from "@lodestar/types";

/** Selector of deposit(bytes,bytes,bytes,bytes32). */
const SELECTOR = Uint8Array.of(0x22, 0x89, 0x51, 0x18);
const WORD = 32;
const GWEI = 10n ** 9n;
/** Offsets, after the selector, in the ABI encoding: of the arguments, and of each argument's bytes. */
const ARGUMENT_OFFSETS = [0x80, 0xe0, 0x120];
const FIELDS = { pubkey: [0xa0, 48], withdrawalCredentials: [0x100, 32], signature: [0x140, 96] } as const;
const CALL_SIZE = SELECTOR.length + 0x1a0;

/** Encodes the deposit contract call that makes a deposit. */
export function encodeDepositCall(deposit: phase0.DepositData): Uint8Array {
  const call = new Uint8Array(CALL_SIZE);
  call.set(SELECTOR);
  const body = call.subarray(SELECTOR.length);
  const view = new DataView(body.buffer, body.byteOffset);
  for (const [index, offset] of ARGUMENT_OFFSETS.entries()) view.setUint32((index + 1) * WORD - 4, offset);
  body.set(ssz.phase0.DepositData.hashTreeRoot(deposit), ARGUMENT_OFFSETS.length * WORD);
  for (const [name, [start, size]] of Object.entries(FIELDS)) {
    view.setUint32(start - 4, size);
    body.set(deposit[name as keyof typeof FIELDS], start);
  }
  return call;
}

/** Decodes a deposit contract call. Returns undefined for a different call or a different encoding. */
export function decodeDepositCall(call: Uint8Array, value: bigint): phase0.DepositData | undefined {
  if (call.length !== CALL_SIZE || SELECTOR.some((byte, index) => call[index] !== byte)) return undefined;
  const body = call.subarray(SELECTOR.length);
  const field = ([start, size]: readonly [number, number]) => body.slice(start, start + size);
  return {
    pubkey: field(FIELDS.pubkey),
    withdrawalCredentials: field(FIELDS.withdrawalCredentials),
    signature: field(FIELDS.signature),
    amount: Number(value / GWEI),
  };
}
