import { type Random, randomFrom } from "./random.ts";

/** A message of one account to a contract. */
export interface Program {
  code: Uint8Array;
  data?: Uint8Array;
  value?: bigint;
  gasLimit?: bigint;
  isStatic?: boolean;
}

const PUSH0 = 0x5f;
const PC = 0x58;
const DUP1 = 0x80;
/** In all forks, unlike PUSH0. */
const ZERO = [0x60, 0x00];
const SWAP1 = 0x90;
const LOG0 = 0xa0;
const SLOTNUM = 0x4b;
const [MSTORE, RETURN, REVERT, INVALID, JUMP, JUMPI, JUMPDEST] = [0x52, 0xf3, 0xfd, 0xfe, 0x56, 0x57, 0x5b];
const OUTPUT_SIZE = 0x60;
/** Opcodes by the number of words that they take. */
const BY_OPERANDS: readonly (readonly number[])[] = [
  [0x30, 0x32, 0x33, 0x34, 0x36, 0x38, 0x3a, 0x3d, ...range(0x41, 0x48), 0x4a, 0x58, 0x59, 0x5a, PUSH0],
  [0x15, 0x19, 0x1e, 0x31, 0x35, 0x3b, 0x3f, 0x40, 0x49, 0x50, 0x51, 0x54, 0x5c],
  [
    ...range(0x01, 0x07),
    0x0a,
    0x0b,
    ...range(0x10, 0x14),
    ...range(0x16, 0x18),
    ...range(0x1a, 0x1d),
    0x20,
    0x52,
    0x53,
    0x55,
    0x5d,
  ],
  [0x08, 0x09, 0x37, 0x39, 0x3e, 0x5e],
  [0x3c],
];
/** Operands of an opcode that are offsets or lengths, and would nearly always be too large. */
const MEMORY_OPERANDS = new Set([
  0x20,
  0x37,
  0x39,
  0x3c,
  0x3e,
  0x51,
  0x52,
  0x53,
  0x5e,
  ...range(LOG0, LOG0 + 4),
  RETURN,
  REVERT,
]);

function range(first: number, last = first): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

/**
 * Creates code with all opcodes, mostly with enough operands on the stack, of which many are numbers at the edges of
 * ranges. It stores what it computes, and returns a part of its memory.
 */
export function randomProgram(seed: number, { isAmsterdam = false } = {}): Program {
  const random = randomFrom(seed);
  const stack = Array.from({ length: 20 }, () => pushNumber(random));
  const parts = [...stack, ...Array.from({ length: 5 + random(60) }, () => step(random))];
  if (isAmsterdam) parts.splice(20 + random(4), 0, [SLOTNUM], deepStack(random), deepStack(random));
  const end = random(6) === 0 ? REVERT : random(12) === 0 ? INVALID : RETURN;
  const code = [...parts.flat(), 0x60, OUTPUT_SIZE, ...ZERO, end];
  const data = bytes(random, random(100));
  const gasLimit = BigInt(random(12) === 0 ? random(2000) : 200_000 + random(3_000_000));
  return { code: Uint8Array.from(code), data, value: BigInt(random(3)), gasLimit };
}

function step(random: Random): number[] {
  const kind = random(20);
  if (kind === 0) return [DUP1 + random(4), SWAP1 + random(4)];
  if (kind === 1) return [0x60, random(256), SWAP1, 0x50];
  if (kind === 2) return logging(random);
  if (kind === 3) return jump(random);
  if (kind === 4) return random(30) === 0 ? [random(256)] : call(random);
  if (kind === 5 && random(3) === 0) return creation(random);
  const operands = random(BY_OPERANDS.length);
  const opcode = pick(random, BY_OPERANDS[operands]!);
  const isSmall = MEMORY_OPERANDS.has(opcode) && random(300) > 0;
  const pushes = Array.from({ length: operands }, () => (isSmall ? [0x60, random(100)] : pushNumber(random)));
  return [...pushes.flat(), opcode, ...keep(random)];
}

/** Stores or drops the top word, sometimes. */
function keep(random: Random): number[] {
  const kind = random(5);
  if (kind === 0) return [0x60, random(4), 0x55];
  if (kind === 1) return [0x60, random(64), MSTORE];
  return [];
}

/** A number of any length, often at the edge of a limb. */
function pushNumber(random: Random): number[] {
  const size = random(4) === 0 ? 32 : 1 + random(32);
  const kind = random(6);
  const fill = [0x00, 0xff, 0x80][kind];
  const digits = Array.from({ length: size }, () => fill ?? random(256));
  if (random(2) === 0) digits[size - 1] = random(256);
  if (random(3) === 0) digits[0] = [0x00, 0x7f, 0x80, 0xff][random(4)]!;
  return [PUSH0 + size, ...digits];
}

/** EIP-8024: mostly within the stack's height of about 20 words. */
function deepStack(random: Random): number[] {
  const opcode = 0xe6 + random(3);
  if (random(20) === 0) return [opcode, random(256)];
  return [opcode, opcode === 0xe8 ? 0x8f - random(8) * 0x11 : 0x80 + random(4)];
}

function logging(random: Random): number[] {
  const topics = random(5);
  const operands = Array.from({ length: topics }, () => pushNumber(random)).flat();
  return [...operands, 0x60, random(80), 0x60, random(80), LOG0 + topics];
}

/** Jumps over an invalid opcode, or to a wrong position. */
function jump(random: Random): number[] {
  const isWrong = random(100) === 0;
  // PC is the position of the opcode itself.
  const distance = isWrong ? random(256) : 0;
  if (random(2) === 0) return [PC, 0x60, isWrong ? distance : 6, 0x01, JUMP, INVALID, JUMPDEST];
  return [0x60, random(2), PC, 0x60, isWrong ? distance : 6, 0x01, JUMPI, PC, JUMPDEST];
}

/** A call to a precompile, an account without code, a contract or the account itself. */
function call(random: Random): number[] {
  const opcode = pick(random, [0xf1, 0xf2, 0xf4, 0xfa]);
  const target = pick(random, [0x02, 0x04, 0x09, 0xc1, 0xc2, 0xc3, 0xee]);
  const value = opcode === 0xf1 || opcode === 0xf2 ? [0x60, random(3) === 0 ? random(3) : 0] : [];
  const small = () => [0x60, random(80)];
  const gas = random(2) === 0 ? [0x5a] : [0x61, random(256), random(256)];
  const address = random(8) === 0 ? [0x30] : [0x60, target];
  return [...small(), ...small(), ...small(), ...small(), ...value, ...address, ...gas, opcode, ...keep(random)];
}

/** Creates a contract of init code that is copied from the end of this code, and of which any byte may be wrong. */
function creation(random: Random): number[] {
  const salt = random(2) === 0 ? [0x60, random(3)] : undefined;
  const copy = [0x60, 20 + random(30), 0x60, random(30), ...ZERO, 0x39];
  const operands = [...(salt ?? []), 0x60, random(50), 0x60, random(10), 0x60, random(2)];
  return [...copy, ...operands, salt ? 0xf5 : 0xf0, ...keep(random)];
}

function bytes(random: Random, size: number): Uint8Array {
  return new Uint8Array(size).map(() => random(256));
}

function pick<T>(random: Random, from: readonly T[]): T {
  return from[random(from.length)]!;
}
