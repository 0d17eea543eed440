import type { InterpreterStep } from "@ethereumjs/evm";
import { Address } from "@ethereumjs/util";
import { type AccountRecord, NO_ACCOUNT } from "../../state/world.ts";
import { EthError } from "../eth-error.ts";
import { data, fromHex, quantity, word } from "../json/hex.ts";
import type { PrestateTracerOptions } from "./trace-options.ts";
import type { EvmEvents, Tracer, TraceSubject } from "./tracer.ts";

interface AccountJson {
  balance?: string;
  nonce?: number;
  code?: string;
  codeHash?: string;
  storage?: Record<string, string>;
}

/** An account's state before the transaction, with the slots accessed. */
interface Touched {
  record: AccountRecord | undefined;
  slots: Map<string, string>;
}

const ZERO = `0x${"00".repeat(32)}`;
const SLOT_ACCESS: ReadonlySet<number> = new Set([0x54, 0x55]);
/** BALANCE, EXTCODESIZE, EXTCODECOPY, EXTCODEHASH and SELFDESTRUCT. */
const ACCOUNT_ACCESS: ReadonlySet<number> = new Set([0x31, 0x3b, 0x3c, 0x3f, 0xff]);
/** CALL, CALLCODE, DELEGATECALL and STATICCALL. */
const CALLS: ReadonlySet<number> = new Set([0xf1, 0xf2, 0xf4, 0xfa]);
const SELFDESTRUCT = 0xff;
/** EIP-7702: prefix of a delegation; the delegate's address follows. */
const DELEGATION = "0xef0100";

/** Records the state of accessed accounts before the transaction, in the format of geth's prestateTracer. */
export class PrestateTracer implements Tracer {
  readonly #options: PrestateTracerOptions;
  readonly #touched = new Map<string, Touched>();
  readonly #created = new Set<string>();
  readonly #deleted = new Set<string>();
  #state: TraceSubject["state"] | undefined;

  constructor(options: PrestateTracerOptions = {}) {
    if (options.diffMode && options.includeEmpty) throw new EthError("cannot use diffMode with includeEmpty");
    this.#options = options;
  }

  attach(events: EvmEvents, subject: TraceSubject): () => void {
    const { state, sender, recipient, feeRecipient, authorities } = subject;
    this.#state = state;
    for (const address of [sender, feeRecipient, ...authorities]) this.#touch(data(address));
    if (recipient !== undefined) this.#touchCalled(data(recipient));
    const step = (event: InterpreterStep) => this.#step(event);
    const created = ({ address }: { address: Address }) => {
      this.#touch(address.toString());
      this.#created.add(address.toString());
    };
    events.on("step", step).on("newContract", created);
    return () => events.off("step", step).off("newContract", created);
  }

  result(): unknown {
    return this.#options.diffMode ? this.#difference() : this.#prestate();
  }

  #step({ opcode: { code }, stack, address }: InterpreterStep): void {
    const contract = address.toString();
    const [top, second] = [stack.at(-1), stack.at(-2)];
    if (SLOT_ACCESS.has(code) && top !== undefined) this.#touchSlot(contract, hexOf(top, 32));
    if (ACCOUNT_ACCESS.has(code) && top !== undefined) this.#touch(hexOf(top, 20));
    if (CALLS.has(code) && second !== undefined) this.#touchCalled(hexOf(second, 20));
    // EIP-6780: only contracts created in the same transaction are deleted.
    if (code === SELFDESTRUCT && this.#created.has(contract)) this.#deleted.add(contract);
  }

  #touch(address: string): Touched {
    let touched = this.#touched.get(address);
    if (touched === undefined) {
      touched = { record: this.#recordOf(address), slots: new Map() };
      this.#touched.set(address, touched);
    }
    return touched;
  }

  /** Marks a called account as accessed, along with the account it delegates its code to. */
  #touchCalled(address: string): void {
    this.#touch(address);
    const code = data(this.#recordOf(address)?.code.subarray(0, 23) ?? new Uint8Array(0));
    if (code.startsWith(DELEGATION)) this.#touch(`0x${code.slice(DELEGATION.length)}`);
  }

  #touchSlot(address: string, slot: string): void {
    if (this.#options.disableStorage) return;
    const { slots } = this.#touch(address);
    if (!slots.has(slot)) slots.set(slot, this.#valueOf(address, slot));
  }

  #prestate(): Record<string, AccountJson> {
    const entries = [...this.#touched].filter(([, touched]) => this.#options.includeEmpty || !isEmpty(touched));
    return Object.fromEntries(entries.map(([address, touched]) => [address, this.#json(touched)]));
  }

  #difference(): Record<"pre" | "post", Record<string, AccountJson>> {
    const [pre, post]: Record<string, AccountJson>[] = [{}, {}];
    for (const [address, touched] of this.#touched) {
      if (this.#deleted.has(address)) {
        if (!isEmpty(touched)) pre![address] = this.#json(touched);
        continue;
      }
      const slots = [...touched.slots].map(([slot, before]) => ({ slot, before, after: this.#valueOf(address, slot) }));
      const changed = slots.filter(({ before, after }) => before !== after);
      const change = this.#changeOf(touched.record, this.#recordOf(address));
      if (change === undefined && changed.length === 0) continue;
      const nonZeroSlots = (side: "before" | "after") =>
        new Map(changed.filter((each) => each[side] !== ZERO).map((each) => [each.slot, each[side]]));
      post![address] = { ...change, ...storageJson(nonZeroSlots("after")) };
      if (!isEmpty(touched)) pre![address] = this.#json({ ...touched, slots: nonZeroSlots("before") });
    }
    return { post: post!, pre: pre! };
  }

  /** Returns the fields that have changed; undefined if none have. */
  #changeOf(before = NO_ACCOUNT, after = NO_ACCOUNT): AccountJson | undefined {
    const isOtherCode = data(before.codeHash) !== data(after.codeHash);
    const change: AccountJson = {
      ...(before.balance !== after.balance && { balance: quantity(after.balance) }),
      ...(before.nonce !== after.nonce && { nonce: Number(after.nonce) }),
      ...(isOtherCode && { codeHash: data(after.codeHash) }),
      ...(isOtherCode && !this.#options.disableCode && { code: data(after.code) }),
    };
    return Object.keys(change).length === 0 ? undefined : change;
  }

  #json({ record = NO_ACCOUNT, slots }: Touched): AccountJson {
    const { balance, nonce, code, codeHash } = record;
    return {
      balance: quantity(balance),
      ...(nonce > 0n && { nonce: Number(nonce) }),
      ...(code.length > 0 && !this.#options.disableCode && { code: data(code) }),
      ...(code.length > 0 && { codeHash: data(codeHash) }),
      ...storageJson(slots),
    };
  }

  #recordOf(address: string): AccountRecord | undefined {
    return this.#state!.account(fromHex(address));
  }

  #valueOf(address: string, slot: string): string {
    return word(this.#state!.storageAt(new Address(fromHex(address)), fromHex(slot)));
  }
}

function storageJson(slots: ReadonlyMap<string, string>): Pick<AccountJson, "storage"> {
  return slots.size === 0 ? {} : { storage: Object.fromEntries(slots) };
}

function isEmpty({ record = NO_ACCOUNT }: Touched): boolean {
  return record.balance === 0n && record.nonce === 0n && record.code.length === 0;
}

const hexOf = (value: bigint, size: number): string =>
  `0x${value
    .toString(16)
    .padStart(64, "0")
    .slice(-2 * size)}`;
