/** Assembles EVM code. */

const OPCODES = {
  STOP: 0x00,
  ADD: 0x01,
  SDIV: 0x05,
  MULMOD: 0x09,
  EXP: 0x0a,
  GT: 0x11,
  KECCAK256: 0x20,
  BALANCE: 0x31,
  CODECOPY: 0x39,
  BLOCKHASH: 0x40,
  POP: 0x50,
  SLOAD: 0x54,
  SSTORE: 0x55,
  JUMP: 0x56,
  JUMPI: 0x57,
  GAS: 0x5a,
  JUMPDEST: 0x5b,
  MCOPY: 0x5e,
  LOG0: 0xa0,
  CREATE: 0xf0,
  CALL: 0xf1,
  STATICCALL: 0xfa,
} as const;

const NONE = new Uint8Array(0);
const PUSH0 = 0x5f;
const PUSH2 = 0x61;
const DUP1 = 0x80;
const SWAP1 = 0x90;

/** An opcode, a value to push, or code. */
export type Part = keyof typeof OPCODES | bigint | number | Uint8Array;

export function assemble(...parts: readonly Part[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts.map(encode)));
}

function encode(part: Part): Uint8Array {
  if (part instanceof Uint8Array) return part;
  return typeof part === "string" ? Uint8Array.of(OPCODES[part]) : push(BigInt(part));
}

function push(value: bigint): Uint8Array {
  if (value === 0n) return Uint8Array.of(PUSH0);
  const hex = value.toString(16);
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), "0"), "hex");
  return Uint8Array.of(PUSH0 + bytes.length, ...bytes);
}

export const dup = (depth: number): Uint8Array => Uint8Array.of(DUP1 + depth - 1);
const swap = (depth: number): Uint8Array => Uint8Array.of(SWAP1 + depth - 1);

interface Loop {
  /** Runs before the loop. */
  setup?: Uint8Array;
  /** At the start of the memory. */
  data?: Uint8Array;
  /** Stops when less gas is left. By default the loop ends when the gas is used up. */
  reserve?: number;
}

/** A loop of a repeated body. */
export function endless(
  body: Uint8Array,
  repeats: number,
  { setup = NONE, data = NONE, reserve }: Loop = {},
): Uint8Array {
  // Pushes two bytes, so that the length does not depend on the offset.
  const push2 = (value: number) => Uint8Array.of(PUSH2, value >> 8, value & 0xff);
  const prologue = (dataStart: number) => assemble(push2(data.length), push2(dataStart), 0, "CODECOPY", setup);
  const start = prologue(0).length;
  const repeated = new Array<Uint8Array>(repeats).fill(body);
  const end = reserve === undefined ? ["JUMP" as const] : ([reserve, "GAS", "GT", swap(1), "JUMPI", "STOP"] as const);
  const loop = assemble("JUMPDEST", ...repeated, push2(start), ...end);
  return assemble(prologue(start + loop.length), loop, data);
}
