/** The compression function of BLAKE2b (RFC 7693), assembled as WebAssembly, which has 64-bit integers. */

const INITIAL = [
  ...[0x6a09e667f3bcc908n, 0xbb67ae8584caa73bn, 0x3c6ef372fe94f82bn, 0xa54ff53a5f1d36f1n],
  ...[0x510e527fade682d1n, 0x9b05688c2b3e6c1fn, 0x1f83d9abfb41bd6bn, 0x5be0cd19137e2179n],
];
/** Order of the message words in each round, in hex digits. */
const SCHEDULE = [
  ...["0123456789abcdef", "ea489fd61c02b753", "b8c052fdae367194", "7931dcbe265a40f8", "905724afe1bc683d"],
  ...["2c6a0b834d75fe19", "c51fed4a0763928b", "db7ec13950f4862a", "6fe9b308c2d714a5", "a2847615fb9e3cd0"],
];
/** Vector indices mixed in each round: columns, followed by diagonals. */
const MIXED = [
  ...[
    [0, 4, 8, 12],
    [1, 5, 9, 13],
    [2, 6, 10, 14],
    [3, 7, 11, 15],
  ],
  ...[
    [0, 5, 10, 15],
    [1, 6, 11, 12],
    [2, 7, 8, 13],
    [3, 4, 9, 14],
  ],
] as [number, number, number, number][];
const WORD = 8;
/** Memory layout, as in EIP-152's input: the state, the message and the offset. */
const MESSAGE = 8 * WORD;
const OFFSET = MESSAGE + 16 * WORD;

/** Local variables: the function's parameters, followed by the working vector. */
const ROUNDS = 0;
const IS_FINAL = 1;
const VECTOR = 2;

const TYPE = { i32: 0x7f, i64: 0x7e, func: 0x60, void: 0x40 };
const OP = {
  ...{ block: 0x02, loop: 0x03, end: 0x0b, branch: 0x0c, branchIf: 0x0d, get: 0x20, set: 0x21, tee: 0x22 },
  ...{ load: 0x29, store: 0x37, const32: 0x41, const64: 0x42, isZero: 0x45, subtract32: 0x6b, extend: 0xac },
  ...{ add: 0x7c, xor: 0x85, rotateRight: 0x8a },
};

type Code = number[];

interface Compressor {
  memory: { buffer: ArrayBuffer };
  compress(rounds: number, isFinal: number): void;
}

/** Node's type declarations lack `WebAssembly`. */
const { WebAssembly } = globalThis as unknown as {
  WebAssembly: { Module: new (code: Uint8Array) => object; Instance: new (module: object) => { exports: unknown } };
};

/** Compresses EIP-152 input. The function is assembled on first use. */
export class Blake2b {
  #compressor: Compressor | undefined;

  /** Returns the new state. The input must be well-formed. */
  compress(input: Uint8Array): Uint8Array {
    const { memory, compress } = this.#open();
    const bytes = new Uint8Array(memory.buffer);
    const rounds = new DataView(input.buffer, input.byteOffset).getUint32(0);
    const end = 4 + OFFSET + 2 * WORD;
    bytes.set(input.subarray(4, end));
    compress(rounds, input[end]!);
    return bytes.slice(0, MESSAGE);
  }

  #open(): Compressor {
    this.#compressor ??= new WebAssembly.Instance(new WebAssembly.Module(assembleModule())).exports as Compressor;
    return this.#compressor;
  }
}

function assembleModule(): Uint8Array<ArrayBuffer> {
  const locals = [1, ...unsigned(16), TYPE.i64];
  const body = [...locals, ...compressFunction(), OP.end];
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [TYPE.func, 2, TYPE.i32, TYPE.i32, 0]),
    ...section(3, [0]),
    ...section(5, [0, 1]),
    ...section(7, [...name("memory"), 2, 0], [...name("compress"), 0, 0]),
    ...section(10, [...unsigned(body.length), ...body]),
  ]);
}

function compressFunction(): Code {
  const words = Array.from({ length: 8 }, (_, index) => index);
  const rounds = SCHEDULE.flatMap((order) => [
    ...[...get(ROUNDS), OP.isZero, OP.branchIf, 1],
    ...[...get(ROUNDS), OP.const32, 1, OP.subtract32, OP.set, ROUNDS],
    ...MIXED.flatMap((mixed, index) =>
      mix(mixed, Number.parseInt(order[2 * index]!, 16), Number.parseInt(order[2 * index + 1]!, 16)),
    ),
  ]);
  // All bits are set for the final block.
  const finalMask = [OP.const32, 0, ...get(IS_FINAL), OP.subtract32, OP.extend];
  return [
    ...words.flatMap((index) => setVector(index, load(index * WORD))),
    ...INITIAL.flatMap((word, index) => setVector(8 + index, [OP.const64, ...signed(BigInt.asIntN(64, word))])),
    ...setVector(12, [...vector(12), ...load(OFFSET), OP.xor]),
    ...setVector(13, [...vector(13), ...load(OFFSET + WORD), OP.xor]),
    ...setVector(14, [...vector(14), ...finalMask, OP.xor]),
    ...[OP.block, TYPE.void, OP.loop, TYPE.void, ...rounds, OP.branch, 0, OP.end, OP.end],
    ...words.flatMap((index) => [
      ...[OP.const32, 0, ...load(index * WORD), ...vector(index), OP.xor, ...vector(index + 8), OP.xor],
      ...[OP.store, 3, ...unsigned(index * WORD)],
    ]),
  ];
}

/** Mixes two message words into four words of the working vector. */
function mix([a, b, c, d]: readonly [number, number, number, number], first: number, second: number): Code {
  const addMessage = (word: number) => [...load(MESSAGE + word * WORD), OP.add];
  const rotated = (one: number, other: number, bits: bigint) =>
    setVector(one, [...vector(one), ...vector(other), OP.xor, OP.const64, ...signed(bits), OP.rotateRight]);
  const sum = (one: number, other: number, rest: Code = []) =>
    setVector(one, [...vector(one), ...vector(other), OP.add, ...rest]);
  return [
    ...[...sum(a, b, addMessage(first)), ...rotated(d, a, 32n), ...sum(c, d), ...rotated(b, c, 24n)],
    ...[...sum(a, b, addMessage(second)), ...rotated(d, a, 16n), ...sum(c, d), ...rotated(b, c, 63n)],
  ];
}

const get = (local: number): Code => [OP.get, ...unsigned(local)];
const vector = (index: number): Code => get(VECTOR + index);
const setVector = (index: number, value: Code): Code => [...value, OP.set, ...unsigned(VECTOR + index)];
const load = (address: number): Code => [OP.const32, 0, OP.load, 3, ...unsigned(address)];
const section = (id: number, ...entries: Code[]): Code => {
  const content = [...unsigned(entries.length), ...entries.flat()];
  return [id, ...unsigned(content.length), ...content];
};
const name = (text: string): Code => [text.length, ...new TextEncoder().encode(text)];

/** Encodes an integer as LEB128. */
function unsigned(value: number): Code {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

function signed(value: bigint): Code {
  const low = Number(value & 0x7fn);
  const rest = value >> 7n;
  const isLast = (rest === 0n && low < 0x40) || (rest === -1n && low >= 0x40);
  return isLast ? [low] : [low | 0x80, ...signed(rest)];
}
