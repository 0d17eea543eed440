import { TimeSlice } from "../../../async/time-slice.ts";
import type { ReceiptedBlock } from "../../engine/storage/block-archive.ts";
import { blobBaseFee, nextExcessBlobGas } from "../../execution/fees.ts";
import type { Header } from "../../execution/header.ts";
import { effectiveTip } from "../../execution/transaction.ts";
import type { BlockId } from "../block-id.ts";
import type { EthChain } from "../eth-chain.ts";
import { EthError } from "../eth-error.ts";
import { quantity } from "../json/hex.ts";

interface FeeHistoryArgs {
  count: number;
  newest: BlockId;
  /** Ascending, from 0 to 100. */
  percentiles?: readonly number[] | undefined;
}

/** A sufficient tip, because a dev chain's blocks are rarely full. */
export const SUGGESTED_TIP: bigint = 10n ** 9n;
const MAX_FEE_HISTORY = 1024;

/** Methods that report fees. */
export function feeMethods(chain: EthChain) {
  const { rules, secondsPerSlot } = chain.engine;
  /** Returns the blob base fee of a block or, if `isNext`, of its child. */
  const blobFee = (header: Header, isNext: boolean): bigint => {
    const { blobs, isSince } = forkOf(header, isNext);
    if (blobs === undefined) return 0n;
    const excess = isNext ? nextExcessBlobGas(header, blobs, isSince) : (header.excessBlobGas ?? 0n);
    return blobBaseFee(excess, blobs);
  };
  const forkOf = (header: Header, isNext: boolean) => {
    const next = header === chain.latest.header ? chain.nextTimestamp : Number(header.timestamp) + secondsPerSlot;
    const fork = rules.at(isNext ? next : header.timestamp);
    return { blobs: fork.blobs, isSince: fork.isSince("osaka"), maxBlobGas: fork.maxBlobGas };
  };
  return {
    gasPrice: async () => quantity(chain.engine.nextBaseFee(chain.latest) + SUGGESTED_TIP),
    maxPriorityFeePerGas: async () => quantity(SUGGESTED_TIP),
    blobBaseFee: async () => quantity(blobFee(chain.latest.header, true)),
    feeHistory: async ({ count, newest, percentiles }: FeeHistoryArgs, signal?: AbortSignal) => {
      const last = await chain.find(newest);
      if (last === undefined) throw new EthError("header not found");
      const headers: Header[] = [];
      const rewards: string[][] = [];
      const slice = new TimeSlice();
      for await (const block of chain.ancestry(last, Math.min(count, MAX_FEE_HISTORY))) {
        headers.push(block.header);
        if (percentiles?.length) rewards.push(rewardsOf(block, percentiles).map(quantity));
        await slice.yieldIfDue();
        signal?.throwIfAborted();
      }
      headers.reverse();
      const newestHeader = last.header;
      const ratio = (used: bigint, max: bigint) => (max === 0n ? 0 : Number(used) / Number(max));
      return {
        oldestBlock: quantity(headers[0]?.number ?? 0n),
        baseFeePerGas:
          headers.length === 0
            ? []
            : [...headers.map(({ baseFeePerGas }) => baseFeePerGas), chain.engine.nextBaseFee(last)].map(quantity),
        gasUsedRatio: headers.map(({ gasUsed, gasLimit }) => ratio(gasUsed, gasLimit)),
        baseFeePerBlobGas:
          headers.length === 0
            ? []
            : [...headers.map((header) => blobFee(header, false)), blobFee(newestHeader, true)].map(quantity),
        blobGasUsedRatio: headers.map((header) => ratio(header.blobGasUsed ?? 0n, forkOf(header, false).maxBlobGas)),
        ...(percentiles && percentiles.length > 0 && { reward: rewards.reverse() }),
      };
    },
  };
}

/** Returns a block's tips at the given gas percentiles, with transactions sorted by tip. */
function rewardsOf({ header, transactions, receipts }: ReceiptedBlock, percentiles: readonly number[]): bigint[] {
  const sorted = transactions
    .map(({ tx }, index) => ({ tip: effectiveTip(tx, header.baseFeePerGas), gas: receipts[index]!.gasUsed }))
    .sort((one, other) => (one.tip < other.tip ? -1 : one.tip > other.tip ? 1 : 0));
  return percentiles.map((percentile) => {
    const threshold = (Number(header.gasUsed) * percentile) / 100;
    let gas = 0;
    for (const { tip, gas: used } of sorted) {
      gas += Number(used);
      if (gas >= threshold) return tip;
    }
    return sorted.at(-1)?.tip ?? 0n;
  });
}
