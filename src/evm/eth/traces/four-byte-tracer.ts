import type { Message } from "@ethereumjs/evm";
import { data } from "../json/hex.ts";
import type { EvmEvents, Tracer, TraceSubject } from "./tracer.ts";

const SELECTOR_SIZE = 4;

/** Counts calls by selector and argument size, in the format used by geth's 4byteTracer. */
export class FourByteTracer implements Tracer {
  readonly #counts: Record<string, number> = {};

  attach(events: EvmEvents, { precompiles }: TraceSubject): () => void {
    const before = (message: Message) => {
      const { to, data: input } = message;
      if (to === undefined || input.length < SELECTOR_SIZE) return;
      if (precompiles.has(message.codeAddress.toString().slice(2))) return;
      const key = `${data(input.subarray(0, SELECTOR_SIZE))}-${input.length - SELECTOR_SIZE}`;
      this.#counts[key] = (this.#counts[key] ?? 0) + 1;
    };
    events.on("beforeMessage", before);
    return () => events.off("beforeMessage", before);
  }

  result(): unknown {
    return this.#counts;
  }
}
