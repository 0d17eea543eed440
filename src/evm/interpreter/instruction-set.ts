import type { Common } from "@ethereumjs/common";
import { EVMError } from "@ethereumjs/evm";
import { STACK_LIMIT } from "./frame.ts";
import type { Instruction, Instructions, Run } from "./instruction.ts";
import { ACCOUNTS } from "./instructions/accounts.ts";
import { ARITHMETIC } from "./instructions/arithmetic.ts";
import { BITS, COUNT_LEADING_ZEROS } from "./instructions/bits.ts";
import { BLOB_BASE_FEE, BLOCK, SLOT_NUMBER } from "./instructions/block.ts";
import { CALLS } from "./instructions/calls.ts";
import { COMPARISON } from "./instructions/comparison.ts";
import { CONTROL } from "./instructions/control.ts";
import { ACCOUNT_CREATION, CREATION } from "./instructions/creation.ts";
import { HASHING } from "./instructions/hashing.ts";
import { LOGS } from "./instructions/logs.ts";
import { MEMORY, MEMORY_COPY } from "./instructions/memory.ts";
import { BLOB_HASH, MESSAGE } from "./instructions/message.ts";
import { METERED_STORAGE } from "./instructions/metered-storage.ts";
import { SELF_DESTRUCT } from "./instructions/self-destruct.ts";
import { DEEP_STACK, PUSH_ZERO, STACK } from "./instructions/stack.ts";
import { STORAGE, TRANSIENT_STORAGE } from "./instructions/storage.ts";

const OPCODES = 256;

/** Instructions available since Paris. */
const BASE_INSTRUCTIONS: Instructions = [
  ...ARITHMETIC,
  ...COMPARISON,
  ...BITS,
  ...HASHING,
  ...MESSAGE,
  ...ACCOUNTS,
  ...BLOCK,
  ...MEMORY,
  ...STACK,
  ...CONTROL,
  ...STORAGE,
  ...LOGS,
  ...CALLS,
  ...CREATION,
  ...SELF_DESTRUCT,
];

/** Instructions added or replaced by EIPs since Shanghai. */
const ADDED_INSTRUCTIONS: readonly [eip: number, added: Instructions][] = [
  [3855, PUSH_ZERO],
  [1153, TRANSIENT_STORAGE],
  [4844, BLOB_HASH],
  [5656, MEMORY_COPY],
  [7516, BLOB_BASE_FEE],
  [7939, COUNT_LEADING_ZEROS],
  [7843, SLOT_NUMBER],
  [8024, DEEP_STACK],
  [8037, METERED_STORAGE],
  [8037, ACCOUNT_CREATION],
];

/** Replaces every instruction that would change the state in a static call. */
const FORBIDDEN: Pick<Instruction, "gas" | "pops" | "pushes" | "run"> = {
  gas: 0,
  pops: 0,
  pushes: 0,
  run: () => {
    throw new EVMError(EVMError.errorMessages.STATIC_STATE_CHANGE);
  },
};

/** A fork's instructions by opcode, with one table for each property that the loop reads. */
export class InstructionSet {
  readonly gas = new Uint16Array(OPCODES);
  /** Bounds for the stack height. No height fits an unknown opcode. */
  readonly lowest = new Int16Array(OPCODES).fill(STACK_LIMIT + 1);
  readonly highest = new Int16Array(OPCODES);
  readonly run: Run[] = new Array(OPCODES).fill(() => undefined);
  readonly #instructions = new Map<number, Instruction>();

  /** If `isStatic` is true, instructions that change the state fail. */
  constructor(common: Common, isStatic: boolean) {
    const added = ADDED_INSTRUCTIONS.filter(([eip]) => common.isActivatedEIP(eip)).flatMap(([, each]) => each);
    for (const instruction of [...BASE_INSTRUCTIONS, ...added]) {
      const { opcode } = instruction;
      const { gas, pops, pushes, run } = isStatic && instruction.isWriting ? FORBIDDEN : instruction;
      this.gas[opcode] = gas;
      this.lowest[opcode] = pops;
      this.highest[opcode] = STACK_LIMIT + pops - pushes;
      this.run[opcode] = run;
      this.#instructions.set(opcode, instruction);
    }
  }

  of(opcode: number): Instruction | undefined {
    return this.#instructions.get(opcode);
  }
}
