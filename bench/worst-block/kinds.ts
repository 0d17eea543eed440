import {
  blake2Input,
  blsPairingInput,
  bn254AddInput,
  bn254MulInput,
  bn254PairingInput,
  ecrecoverInput,
  g1AddInput,
  g1MsmInput,
  g2AddInput,
  g2MsmInput,
  mapG1Input,
  mapG2Input,
  modexpInput,
  p256Input,
  pointEvaluationInput,
} from "../../test/support/evm/precompiles/inputs.ts";
import { assemble, dup, endless } from "./code.ts";

/** Work that fills a block: a contract that repeats it until its gas is used up. */
export interface Kind {
  name: string;
  code: () => Uint8Array;
}

/** Also the name of the kind that the others are compared with. */
export const ECRECOVER = "ecrecover";
/** The code of the warm calls. Empty. */
const EMPTY_ACCOUNT = 0xeeee;
const ALL_ONES = 2n ** 256n - 1n;

const precompile = (name: string, address: number, input: () => Uint8Array, repeats = 100): Kind => ({
  name,
  code: () => {
    const data = input();
    const call = assemble(64, data.length, data.length, 0, address, "GAS", "STATICCALL", "POP");
    return endless(call, repeats, { data });
  },
});

/** A precompile whose input is a part of the memory. */
const bulk = (name: string, address: number, size: number): Kind => ({
  name,
  code: () => endless(assemble(0, 0, size, 0, address, "GAS", "STATICCALL", "POP"), 100),
});

interface Loop {
  repeats?: number;
  /** Runs before the loop. */
  setup?: Uint8Array;
  /** Ends the transaction when less gas is left. By default it runs out of gas, which reverts its changes. */
  reserve?: number;
}

const opcode = (name: string, body: Uint8Array, { repeats = 1000, ...loop }: Loop = {}): Kind => ({
  name,
  code: () => endless(body, repeats, loop),
});

const MEGABYTE = 2 ** 20;
/** `size` bytes of memory cost so much gas that the block is used up by few of them. */
const BULK_SIZE = MEGABYTE / 2;
/** Ten storage slots or contracts at a time, while there is gas for them. */
const KEPT = { repeats: 10, reserve: 400_000 };
/** Creates a contract without code. */
const CREATE = assemble(0, 0, 0, "CREATE", "POP");
/** Increments the counter on the stack and pushes a copy, as a slot or an address. */
const NEXT = assemble(1, "ADD", dup(1));

export const KINDS: readonly Kind[] = [
  precompile(ECRECOVER, 1, ecrecoverInput),
  bulk("sha256, 512 KiB", 2, BULK_SIZE),
  bulk("ripemd160, 512 KiB", 3, BULK_SIZE),
  bulk("identity, 512 KiB", 4, BULK_SIZE),
  precompile("modexp, 32 bytes, exponent of 4", 5, () => modexpInput(32, 4)),
  precompile("modexp, 32 bytes, exponent of 1024", 5, () => modexpInput(32, 1024), 20),
  precompile("modexp, 40 bytes, exponent of 1024", 5, () => modexpInput(40, 1024), 20),
  precompile("modexp, 1024 bytes, exponent of 64", 5, () => modexpInput(1024, 64), 20),
  precompile("bn254 add", 6, bn254AddInput),
  precompile("bn254 mul", 7, bn254MulInput),
  precompile("bn254 pairing, 1 pair", 8, () => bn254PairingInput(1)),
  precompile("bn254 pairing, 16 pairs", 8, () => bn254PairingInput(16)),
  precompile("blake2f, 1 round", 9, () => blake2Input(1)),
  precompile("blake2f, 1,000,000 rounds", 9, () => blake2Input(1_000_000)),
  precompile("KZG point evaluation", 0xa, pointEvaluationInput),
  precompile("BLS G1 add", 0xb, g1AddInput),
  precompile("BLS G1 multiplication", 0xc, () => g1MsmInput(1)),
  precompile("BLS G1 MSM, 128 pairs", 0xc, () => g1MsmInput(128)),
  precompile("BLS G2 add", 0xd, g2AddInput),
  precompile("BLS G2 multiplication", 0xe, () => g2MsmInput(1)),
  precompile("BLS G2 MSM, 128 pairs", 0xe, () => g2MsmInput(128), 10),
  precompile("BLS pairing, 1 pair", 0xf, () => blsPairingInput(1)),
  precompile("BLS pairing, 8 pairs", 0xf, () => blsPairingInput(8)),
  precompile("BLS map to G1", 0x10, mapG1Input),
  precompile("BLS map to G2", 0x11, mapG2Input),
  precompile("p256verify", 0x100, p256Input),
  opcode("JUMPDEST", assemble("JUMPDEST"), { repeats: 20_000 }),
  opcode("EXP", assemble(ALL_ONES, ALL_ONES - 2n, "EXP", "POP")),
  opcode("MULMOD", assemble(ALL_ONES, ALL_ONES - 2n, ALL_ONES - 4n, "MULMOD", "POP"), { repeats: 500 }),
  opcode("SDIV", assemble(7, ALL_ONES, "SDIV", "POP")),
  opcode("KECCAK256, 32 bytes", assemble(32, 0, "KECCAK256", "POP")),
  opcode("KECCAK256, 512 KiB", assemble(BULK_SIZE, 0, "KECCAK256", "POP"), { repeats: 100 }),
  opcode("MCOPY, 512 KiB", assemble(BULK_SIZE, 1, 0, "MCOPY"), { repeats: 100 }),
  opcode("BLOCKHASH", assemble(1, "BLOCKHASH", "POP")),
  opcode("BALANCE, warm", assemble(EMPTY_ACCOUNT, "BALANCE", "POP")),
  opcode("BALANCE, cold", assemble(NEXT, "BALANCE", "POP"), { setup: assemble(2 ** 20) }),
  opcode("SLOAD, warm", assemble(0, "SLOAD", "POP")),
  opcode("SLOAD, cold", assemble(NEXT, "SLOAD", "POP"), { setup: assemble(0) }),
  opcode("SSTORE, new slots", assemble(NEXT, dup(1), "SSTORE"), { setup: assemble(0), ...KEPT }),
  opcode("SSTORE, warm", assemble("GAS", 0, "SSTORE"), KEPT),
  opcode("CALL of an empty account", assemble(0, 0, 0, 0, 0, EMPTY_ACCOUNT, "GAS", "CALL", "POP")),
  opcode("LOG0", assemble(0, 0, "LOG0"), KEPT),
  opcode("CREATE", CREATE, KEPT),
];
