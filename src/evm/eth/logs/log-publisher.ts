import { TimeSlice } from "../../../async/time-slice.ts";
import type { EvmEngine } from "../../engine/evm-engine.ts";
import type { ReceiptedBlock } from "../../engine/storage/block-archive.ts";
import type { HeadChange } from "../canonical-index.ts";
import type { EthChain } from "../eth-chain.ts";
import type { LogJson } from "../json/receipt-json.ts";
import { IndexedLogs } from "./indexed-logs.ts";
import type { LogMatcher } from "./log-matcher.ts";
import type { EthSubscriber } from "./subscription.ts";

/** Subscribers with the same criteria. */
export interface LogAudience {
  readonly matcher: LogMatcher;
  readonly subscribers: ReadonlySet<EthSubscriber>;
}

/** An audience's subscribers at the time of a new head. Later subscribers do not receive that head's logs. */
interface Recipients {
  audience: LogAudience;
  subscribers: readonly EthSubscriber[];
}

/** Work limit per new head, in logs examined. If it is exceeded, the newest audiences are dropped. */
const MAX_WORK = 1_000_000;
/** Work units per delivered log. */
const DELIVERY_WORK = 10;
/** Limits how long a delivery blocks the receiving thread. */
const LOGS_PER_DELIVERY = 500;

/** Delivers the logs of new heads, one head at a time. Yields to the thread's other work. */
export class LogPublisher {
  readonly #chain: EthChain<EvmEngine>;
  readonly #maxWork: number;
  readonly #audiences = new Set<LogAudience>();
  #published: Promise<void> = Promise.resolve();
  #end: (() => void) | undefined;

  constructor(chain: EthChain<EvmEngine>, maxWork = MAX_WORK) {
    this.#chain = chain;
    this.#maxWork = maxWork;
  }

  /** Delivers the logs of subsequent heads to an audience. Returns a function that stops the delivery. */
  add(audience: LogAudience): () => void {
    this.#audiences.add(audience);
    this.#end ??= this.#chain.onHead((change) => {
      const recipients = Array.from(this.#audiences, (each) => ({
        audience: each,
        subscribers: [...each.subscribers],
      }));
      this.#published = this.#published.then(() => this.#publish(change, recipients));
    });
    return () => {
      this.#audiences.delete(audience);
      if (this.#audiences.size > 0) return;
      this.#end?.();
      this.#end = undefined;
    };
  }

  /** Resolves once the logs of all heads so far have been delivered. */
  published(): Promise<void> {
    return this.#published;
  }

  async #publish({ removed, added }: HeadChange, recipients: readonly Recipients[]): Promise<void> {
    const slice = new TimeSlice();
    const blocks = [
      ...removed.map((block) => new PublishedBlock(block, true)),
      ...added.map((block) => new PublishedBlock(block, false)),
    ];
    let work = 0;
    for (const { audience, subscribers } of recipients) {
      const current = () => subscribers.filter((subscriber) => audience.subscribers.has(subscriber));
      if (work > this.#maxWork) {
        for (const { onOverload } of current()) onOverload?.();
        continue;
      }
      for (const block of blocks) {
        if (!audience.matcher.mayMatch(block.bloom)) continue;
        const { found, examined } = audience.matcher.select(await block.logs(slice));
        work += examined + DELIVERY_WORK * found.length;
        for (let from = 0; from < found.length; from += LOGS_PER_DELIVERY) {
          const some: readonly LogJson[] = found.slice(from, from + LOGS_PER_DELIVERY);
          await Promise.all(current().map(({ deliver }) => deliver(some)));
        }
      }
      await slice.yieldIfDue();
    }
  }
}

/** A block whose logs are encoded only if a subscription may match them. */
class PublishedBlock {
  readonly #block: ReceiptedBlock;
  readonly #isRemoved: boolean;
  #logs: Promise<IndexedLogs> | undefined;

  constructor(block: ReceiptedBlock, isRemoved: boolean) {
    this.#block = block;
    this.#isRemoved = isRemoved;
  }

  get bloom(): Uint8Array {
    return this.#block.header.logsBloom;
  }

  logs(slice: TimeSlice): Promise<IndexedLogs> {
    this.#logs ??= IndexedLogs.of(this.#block, this.#isRemoved, slice);
    return this.#logs;
  }
}
