/** What became of a call. The last two can be seen over HTTP alone. */
export type Outcome =
  | { kind: "result"; result: unknown }
  | { kind: "error"; code: number; message: string }
  /** Another status than 200, or another body than JSON-RPC's. */
  | { kind: "http"; status: number; body: string }
  /** The connection is cut. */
  | { kind: "reset" };

export interface Call {
  readonly method: string;
  readonly params: readonly unknown[];
  /** Undefined until it is answered. */
  outcome?: Outcome;
}

type CallMatcher = (call: Call) => boolean;

/** Whether a call is of a method, of any version when the name has none. */
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

/** Matches what another does, as soon as it is answered. */
export const answered =
  (matches: CallMatcher): CallMatcher =>
  (call) =>
    call.outcome !== undefined && matches(call);

/** The calls that an execution layer got, in the order of arrival. */
export class CallLog {
  readonly all: Call[] = [];
  readonly #waiting = new Set<() => void>();

  /** The calls of a method, of any version when the name has none. */
  of(method: string): Call[] {
    return this.all.filter((call) => isOf(method, call));
  }

  /** The first call that matches, from a place in the log on: there already or yet to come. */
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
