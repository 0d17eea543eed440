/** Outcome of a call. The last two only occur over HTTP. */
export type Outcome =
  | { kind: "result"; result: unknown }
  | { kind: "error"; code: number; message: string }
  /** Status other than 200, or body that is not JSON-RPC. */
  | { kind: "http"; status: number; body: string }
  /** Connection closed without a response. */
  | { kind: "reset" };

export interface Call {
  readonly method: string;
  readonly params: readonly unknown[];
  /** Undefined until the response. */
  outcome?: Outcome;
}

type CallMatcher = (call: Call) => boolean;

/** True for calls of a method. A name without version matches all versions. */
export function isOf(method: string, { method: called }: Pick<Call, "method">): boolean {
  return called === method || called.replace(/V\d+$/, "") === method;
}

/** Matches newPayload of a block. */
export const newPayloadOf =
  (blockHash: string): CallMatcher =>
  (call) =>
    isOf("engine_newPayload", call) && (call.params[0] as { blockHash?: unknown } | null)?.blockHash === blockHash;

/** Matches forkchoiceUpdated to a head. */
export const forkchoiceTo =
  (headBlockHash: string): CallMatcher =>
  (call) =>
    isOf("engine_forkchoiceUpdated", call) &&
    (call.params[0] as { headBlockHash?: unknown } | null)?.headBlockHash === headBlockHash;

/** Matches the same calls once they have an outcome. */
export const answered =
  (matches: CallMatcher): CallMatcher =>
  (call) =>
    call.outcome !== undefined && matches(call);

/** Calls of an execution layer in order of arrival. */
export class CallLog {
  readonly all: Call[] = [];
  readonly #waiting = new Set<() => void>();

  /** Returns the calls of a method. A name without version matches all versions. */
  of(method: string): Call[] {
    return this.all.filter((call) => isOf(method, call));
  }

  /** Waits for the first matching call at or after a position of the log. */
  async until(matches: CallMatcher, { from = 0 }: { from?: number } = {}): Promise<Call> {
    for (;;) {
      const found = this.all.slice(from).find(matches);
      if (found) return found;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.add(resolve);
      await promise;
    }
  }

  begin(method: string, params: readonly unknown[]): Call {
    const call: Call = { method, params };
    this.all.push(call);
    this.#wake();
    return call;
  }

  end(call: Call, outcome: Outcome): void {
    call.outcome = outcome;
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}
