import type { EVMResult, InterpreterStep, Message } from "@ethereumjs/evm";
import { Address } from "@ethereumjs/util";
import type { Log } from "../../execution/receipt.ts";
import type { EvmEvents } from "./tracer.ts";

/** Address that emits the transfer logs in `eth_simulateV1`. */
const TRANSFER_ADDRESS = new Uint8Array(20).fill(0xee);
/** Keccak-256 of Transfer(address,address,uint256). */
const TRANSFER_TOPIC = new Uint8Array(
  Buffer.from("ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef", "hex"),
);
const LOG0 = 0xa0;
const LOG4 = 0xa4;
const SELFDESTRUCT = 0xff;

interface Balances {
  account(address: Uint8Array): { balance: bigint } | undefined;
}

/** Records logs in order, including one for each ETH transfer. */
export class TransferTracer {
  /** Logs of the active calls, outermost first. */
  readonly #frames: Log[][] = [];
  /** Message of a contract creation whose address is not known yet. */
  #creation: Message | undefined;
  #logs: readonly Log[] = [];

  /** Logs of the outermost call, available once that call has ended. */
  get logs(): readonly Log[] {
    return this.#logs;
  }

  /** Starts recording. Returns a function that stops recording. */
  attach(events: EvmEvents): () => void {
    const before = (message: Message) => this.#before(message);
    const created = ({ address }: { address: Address }) => this.#created(address);
    const after = (result: EVMResult) => this.#after(result);
    const step = (event: InterpreterStep) => this.#step(event);
    events.on("beforeMessage", before).on("newContract", created).on("afterMessage", after).on("step", step);
    return () =>
      events.off("beforeMessage", before).off("newContract", created).off("afterMessage", after).off("step", step);
  }

  #before(message: Message): void {
    this.#frames.push([]);
    const { to, caller, value, delegatecall } = message;
    if (to === undefined) this.#creation = message;
    // CALLCODE transfers to the caller itself.
    else if (!delegatecall && message.codeAddress.equals(to)) this.#transfer(caller, to, value);
  }

  #created(address: Address): void {
    const { caller, value } = this.#creation!;
    this.#transfer(caller, address, value);
  }

  #transfer(from: Address, to: Address, value: bigint): void {
    if (value === 0n) return;
    const topics = [TRANSFER_TOPIC, wordOf(BigInt(from.toString())), wordOf(BigInt(to.toString()))];
    this.#frames.at(-1)!.push({ address: TRANSFER_ADDRESS, topics, data: wordOf(value) });
  }

  #after({ execResult }: EVMResult): void {
    const logs = execResult.exceptionError ? [] : this.#frames.at(-1)!;
    this.#frames.pop();
    const parent = this.#frames.at(-1);
    if (parent) parent.push(...logs);
    else this.#logs = logs;
  }

  #step({ opcode: { code }, stack, memory, address, stateManager }: InterpreterStep): void {
    if (code === SELFDESTRUCT && stack.length > 0) {
      const balance = (stateManager as unknown as Balances).account(address.bytes)?.balance ?? 0n;
      this.#transfer(address, new Address(wordOf(stack.at(-1)!).subarray(12)), balance);
    }
    if (code < LOG0 || code > LOG4 || stack.length < 2 + code - LOG0) return;
    const [size, offset] = stack.slice(-2).map(Number) as [number, number];
    const data = new Uint8Array(size);
    data.set(memory.subarray(offset, offset + size));
    const topics = stack
      .slice(-2 - (code - LOG0), -2)
      .reverse()
      .map(wordOf);
    this.#frames.at(-1)!.push({ address: address.bytes, topics, data });
  }
}

const wordOf = (value: bigint): Uint8Array => new Uint8Array(Buffer.from(value.toString(16).padStart(64, "0"), "hex"));
