import type { InterpreterStep } from "@ethereumjs/evm";
import { EthError } from "../eth-error.ts";
import { data, quantity, word } from "../json/hex.ts";
import type { StructLoggerOptions } from "./trace-options.ts";
import type { EvmEvents, TracedOutcome, Tracer } from "./tracer.ts";

interface StructLog {
  pc: number;
  op: string;
  gas: number;
  gasCost: number;
  depth: number;
  refund?: number;
  stack?: string[];
  memory?: string[];
  storage?: Record<string, string>;
}

const MAX_CHARACTERS = 64 * 1024 * 1024;
const STEP_CHARACTERS = 100;
const WORD = 32;
const SLOAD = 0x54;
const SSTORE = 0x55;

/** Records each opcode, in the form of geth's struct logger. */
export class StructLogger implements Tracer {
  readonly #options: StructLoggerOptions;
  readonly #logs: StructLog[] = [];
  /** Slots read and written so far, by address. */
  readonly #storage = new Map<string, Record<string, string>>();
  #characters = 0;

  constructor(options: StructLoggerOptions = {}) {
    this.#options = options;
  }

  attach(events: EvmEvents): () => void {
    const step = (event: InterpreterStep) => this.#step(event);
    events.on("step", step);
    return () => events.off("step", step);
  }

  result({ gasUsed, failure, returnData }: TracedOutcome): unknown {
    return {
      gas: Number(gasUsed),
      failed: failure !== undefined,
      returnValue: data(returnData),
      structLogs: this.#logs,
    };
  }

  #step(event: InterpreterStep): void {
    const { limit = 0, enableMemory, disableStack, disableStorage } = this.#options;
    if (limit > 0 && this.#logs.length >= limit) return;
    const { pc, opcode, gasLeft, depth, gasRefund, stack, memory } = event;
    const log: StructLog = {
      pc,
      op: opcode.name,
      gas: Number(gasLeft),
      gasCost: Number(opcode.dynamicFee ?? opcode.fee),
      depth: depth + 1,
      ...(gasRefund > 0n && { refund: Number(gasRefund) }),
      ...(!disableStack && { stack: stack.map(quantity) }),
      ...(enableMemory && { memory: wordsOf(memory) }),
    };
    const slots = disableStorage ? undefined : this.#storageAt(event);
    if (slots) log.storage = slots;
    this.#spend(log);
    this.#logs.push(log);
  }

  #storageAt({ opcode: { code }, stack, address, stateManager }: InterpreterStep): Record<string, string> | undefined {
    if (code !== SLOAD && code !== SSTORE) return undefined;
    const slot = wordOf(stack.at(-1) ?? 0n);
    const state = stateManager as unknown as { storageAt(address: unknown, slot: Uint8Array): Uint8Array };
    const value = code === SSTORE ? wordOf(stack.at(-2) ?? 0n) : state.storageAt(address, slot);
    const slots = { ...this.#storage.get(address.toString()), [data(slot)]: word(value) };
    this.#storage.set(address.toString(), slots);
    return slots;
  }

  #spend({ stack, memory, storage }: StructLog): void {
    const words = (stack?.length ?? 0) + (memory?.length ?? 0) + 2 * Object.keys(storage ?? {}).length;
    this.#characters += STEP_CHARACTERS + words * 2 * WORD;
    if (this.#characters > MAX_CHARACTERS) {
      throw new EthError(
        "trace is larger than 64 MiB: set `limit`, `disableStack` or `disableStorage`, or use callTracer",
      );
    }
  }
}

const wordOf = (value: bigint): Uint8Array => new Uint8Array(Buffer.from(value.toString(16).padStart(64, "0"), "hex"));

function wordsOf(memory: Uint8Array): string[] {
  return Array.from({ length: Math.floor(memory.length / WORD) }, (_, n) =>
    data(memory.subarray(n * WORD, (n + 1) * WORD)),
  );
}
