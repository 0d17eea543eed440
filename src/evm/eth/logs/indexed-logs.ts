import type { TimeSlice } from "../../../async/time-slice.ts";
import type { ReceiptedBlock } from "../../engine/storage/block-archive.ts";
import { type LogJson, logJson } from "../json/receipt-json.ts";

const NONE: readonly number[] = [];

/** A block's logs as JSON, indexed by address and topics. Shared by all subscriptions. */
export class IndexedLogs {
  readonly logs: readonly LogJson[];
  /** Positions of logs by address, then by first topic, second topic and so on. */
  readonly #positions: readonly ReadonlyMap<string, readonly number[]>[];

  private constructor(logs: readonly LogJson[], positions: readonly ReadonlyMap<string, readonly number[]>[]) {
    this.logs = logs;
    this.#positions = positions;
  }

  /**
   * Encodes and indexes a block's logs. If the block was reorged out, its logs are marked `removed` and listed in
   * reverse order.
   */
  static async of(block: ReceiptedBlock, isRemoved: boolean, slice: TimeSlice): Promise<IndexedLogs> {
    const logs: LogJson[] = [];
    for (const [transactionIndex, receipt] of block.receipts.entries()) {
      for (const log of receipt.logs) {
        logs.push(logJson(log, { block, transactionIndex, logIndex: logs.length }, isRemoved));
        if (logs.length % 100 === 0) await slice.yieldIfDue();
      }
    }
    if (isRemoved) logs.reverse();
    const positions = Array.from({ length: 5 }, () => new Map<string, number[]>());
    for (const [position, { address, topics }] of logs.entries()) {
      for (const [index, value] of [address, ...topics].entries()) {
        const known = positions[index]!.get(value);
        if (known === undefined) positions[index]!.set(value, [position]);
        else known.push(position);
      }
      if (position % 100 === 0) await slice.yieldIfDue();
    }
    return new IndexedLogs(logs, positions);
  }

  /**
   * Returns the positions of the logs with a given value, in ascending order. Index 0 is the address, index 1 the first
   * topic.
   */
  positionsOf(index: number, value: string): readonly number[] {
    return this.#positions[index]?.get(value) ?? NONE;
  }
}
