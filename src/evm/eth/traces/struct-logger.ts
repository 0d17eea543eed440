import type { EVMResult, InterpreterStep } from "@ethereumjs/evm";
import { data, quantity, word } from "../json/hex.ts";
import type { StructLoggerOptions } from "./trace-options.ts";
import { TraceSize } from "./trace-size.ts";
import type { EvmEvents, TracedOutcome, Tracer } from "./tracer.ts";

interface StructLog {
  pc: number;
  op: string;
  gas: number;
  gasCost: number;
  depth: number;
  refund: number;
  stack?: string[];
  memory?: string[];
  returnData?: string;
  storage?: Record<string, string>;
}

const STEP_CHARACTERS = 100;
const WORD = 32;
const NO_DATA = new Uint8Array(0);
const SLOAD = 0x54;
const SSTORE = 0x55;

/** Records each opcode in the format of geth's struct logger. */
export class StructLogger implements Tracer {
  readonly #options: StructLoggerOptions;
  readonly #logs: StructLog[] = [];
  /** Slots read and written so far, by address. */
  readonly #storage = new Map<string, Record<string, string>>();
  readonly #size: TraceSize;
  /** Output of the last inner call made by each active call, outermost first. */
  readonly #returned: Uint8Array[] = [];

  constructor(options: StructLoggerOptions = {}, size: TraceSize = new TraceSize()) {
    this.#options = options;
    this.#size = size;
  }

  attach(events: EvmEvents): () => void {
    const before = () => void this.#returned.push(NO_DATA);
    const after = (result: EVMResult) => this.#after(result);
    const step = (event: InterpreterStep) => this.#step(event);
    events.on("beforeMessage", before).on("afterMessage", after).on("step", step);
    return () => events.off("beforeMessage", before).off("afterMessage", after).off("step", step);
  }

  result({ gasUsed, failure, returnData }: TracedOutcome): unknown {
    return {
      gas: Number(gasUsed),
      failed: failure !== undefined,
      returnValue: data(returnData),
      structLogs: this.#logs,
    };
  }

  #after({ execResult: { returnValue, exceptionError }, createdAddress }: EVMResult): void {
    this.#returned.pop();
    // A successful creation returns no data to its caller.
    const isCode = createdAddress !== undefined && exceptionError === undefined;
    if (this.#returned.length > 0) this.#returned[this.#returned.length - 1] = isCode ? NO_DATA : returnValue;
  }

  #step(event: InterpreterStep): void {
    const { limit = 0, enableMemory, disableStack, disableStorage, enableReturnData } = this.#options;
    if (limit > 0 && this.#logs.length >= limit) return;
    const { pc, opcode, gasLeft, depth, gasRefund, stack, memory } = event;
    const log: StructLog = {
      pc,
      op: opcode.name,
      gas: Number(gasLeft),
      gasCost: Number(opcode.dynamicFee ?? opcode.fee),
      depth: depth + 1,
      refund: Number(gasRefund),
      ...(!disableStack && { stack: stack.map(quantity) }),
      ...(enableMemory && { memory: wordsOf(memory) }),
      ...(enableReturnData && { returnData: data(this.#returned.at(-1) ?? NO_DATA) }),
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

  #spend({ stack, memory, storage, returnData }: StructLog): void {
    const words = (stack?.length ?? 0) + (memory?.length ?? 0) + 2 * Object.keys(storage ?? {}).length;
    this.#size.add(STEP_CHARACTERS + words * 2 * WORD + (returnData?.length ?? 0));
  }
}

const wordOf = (value: bigint): Uint8Array => new Uint8Array(Buffer.from(value.toString(16).padStart(64, "0"), "hex"));

function wordsOf(memory: Uint8Array): string[] {
  return Array.from({ length: Math.floor(memory.length / WORD) }, (_, n) =>
    data(memory.subarray(n * WORD, (n + 1) * WORD)),
  );
}
