import type { EVMResult, InterpreterStep, Message } from "@ethereumjs/evm";
import { callFailure, revertReason } from "../calls/call-failure.ts";
import { EthError } from "../eth-error.ts";
import { data, quantity, word } from "../json/hex.ts";
import type { CallTracerOptions } from "./trace-options.ts";
import type { EvmEvents, TracedOutcome, Tracer } from "./tracer.ts";

interface TracedLog {
  address: string;
  topics: string[];
  data: string;
  /** Number of inner calls that precede this log. */
  position: string;
}

/** `CallFrame` as defined by geth's call tracer. */
interface CallFrame {
  type: string;
  from: string;
  to?: string;
  value?: string;
  gas: string;
  gasUsed: string;
  input: string;
  output?: string;
  error?: string;
  revertReason?: string;
  calls?: CallFrame[];
  logs?: TracedLog[];
}

const MAX_FRAMES = 100_000;
const SELFDESTRUCT = 0xff;
const LOG0 = 0xa0;
const LOG4 = 0xa4;
const CALL_TYPES: Readonly<Record<number, string>> = {
  240: "CREATE",
  241: "CALL",
  242: "CALLCODE",
  244: "DELEGATECALL",
  245: "CREATE2",
  250: "STATICCALL",
};

/** Records the call tree in the format of geth's call tracer. */
export class CallTracer implements Tracer {
  readonly #options: CallTracerOptions;
  readonly #open: CallFrame[] = [];
  /** Most recent opcode at each depth. */
  readonly #opcodes: number[] = [];
  #top: CallFrame | undefined;
  #frames = 0;
  readonly #gasLimit: bigint;

  /** `gasLimit` is the gas limit of the transaction, which is reported for the outermost call. */
  constructor(gasLimit: bigint, options: CallTracerOptions = {}) {
    this.#gasLimit = gasLimit;
    this.#options = options;
  }

  attach(events: EvmEvents): () => void {
    const before = (message: Message) => this.#before(message);
    const after = (result: EVMResult) => this.#after(result);
    const step = (event: InterpreterStep) => this.#step(event);
    events.on("beforeMessage", before).on("afterMessage", after).on("step", step);
    return () => events.off("beforeMessage", before).off("afterMessage", after).off("step", step);
  }

  result({ gasUsed }: TracedOutcome): unknown {
    return this.#top && { ...this.#top, gas: quantity(this.#gasLimit), gasUsed: quantity(gasUsed) };
  }

  #before(message: Message): void {
    if (++this.#frames > MAX_FRAMES) throw new EthError(`trace has more than ${MAX_FRAMES} calls: use onlyTopCall`);
    const { depth, caller, to, value, gasLimit, delegatecall } = message;
    const type = depth === 0 ? (to ? "CALL" : "CREATE") : CALL_TYPES[this.#opcodes[depth - 1]!]!;
    const isAtOtherCode = delegatecall || type === "CALLCODE";
    const target = isAtOtherCode ? message.codeAddress : to;
    const frame: CallFrame = {
      type,
      from: (isAtOtherCode ? to! : caller).toString(),
      ...(target && { to: target.toString() }),
      gas: quantity(gasLimit),
      gasUsed: "0x0",
      input: data(message.data),
      ...(type !== "STATICCALL" && { value: quantity(value) }),
    };
    this.#top ??= frame;
    if (!this.#options.onlyTopCall) this.#addCall(frame);
    this.#open.push(frame);
  }

  #after({ execResult, createdAddress }: EVMResult): void {
    const frame = this.#open.pop()!;
    const { executionGasUsed, returnValue, exceptionError } = execResult;
    frame.gasUsed = quantity(executionGasUsed);
    if (createdAddress && !exceptionError) frame.to = createdAddress.toString();
    if (returnValue.length > 0) frame.output = data(returnValue);
    if (!exceptionError) return;
    delete frame.logs;
    const { message, kind } = callFailure(exceptionError.error, returnValue);
    frame.error = message;
    const reason = kind === "reverted" ? revertReason(returnValue) : undefined;
    if (reason !== undefined) frame.revertReason = reason;
  }

  #step({ depth, opcode: { code }, stack, memory, address, stateManager }: InterpreterStep): void {
    this.#opcodes[depth] = code;
    if (code === SELFDESTRUCT && !this.#options.onlyTopCall) {
      const state = stateManager as unknown as { account(address: Uint8Array): { balance: bigint } | undefined };
      this.#addCall({
        type: "SELFDESTRUCT",
        from: address.toString(),
        to: addressJson(stack.at(-1) ?? 0n),
        gas: "0x0",
        gasUsed: "0x0",
        input: "0x",
        value: quantity(state.account(address.bytes)?.balance ?? 0n),
      });
    }
    if (!this.#options.withLog || code < LOG0 || code > LOG4) return;
    if (this.#options.onlyTopCall && depth > 0) return;
    const frame = this.#open.at(-1)!;
    const [size, offset] = stack.slice(-2) as [bigint, bigint];
    frame.logs ??= [];
    frame.logs.push({
      address: address.toString(),
      topics: stack
        .slice(-2 - (code - LOG0), -2)
        .reverse()
        .map(wordJson),
      data: data(memoryAt(memory, offset, size)),
      position: quantity(frame.calls?.length ?? 0),
    });
  }

  #addCall(frame: CallFrame): void {
    const parent = this.#open.at(-1);
    if (parent === undefined) return;
    parent.calls ??= [];
    parent.calls.push(frame);
  }
}

/** Reads memory. Memory that was never written reads as zero. */
function memoryAt(memory: Uint8Array, offset: bigint, size: bigint): Uint8Array {
  const bytes = new Uint8Array(Number(size));
  bytes.set(memory.subarray(Number(offset), Number(offset + size)));
  return bytes;
}

const wordJson = (value: bigint): string => word(Buffer.from(value.toString(16).padStart(64, "0"), "hex"));

const addressJson = (value: bigint): string => `0x${value.toString(16).padStart(64, "0").slice(-40)}`;
