import type { EthBlock, EthTransaction } from "../../../client/index.ts";
import { node, resultsOf } from "../../node.ts";

/** Execution block that includes full transactions. */
export interface FullBlock extends Omit<EthBlock, "transactions"> {
  transactions: EthTransaction[];
}

export const hexOf = (number: number): `0x${string}` => `0x${number.toString(16)}`;

/** Reads blocks from a number downwards, newest first. */
export async function readBlocks(newest: number, count: number, signal: AbortSignal): Promise<FullBlock[]> {
  const numbers = Array.from({ length: Math.min(count, newest + 1) }, (_, back) => newest - back);
  const answers = await node.batch(
    numbers.map((number) => ["eth_getBlockByNumber", { block: hexOf(number), full: true }] as const),
    { signal },
  );
  return resultsOf(answers).filter((block) => block !== null) as FullBlock[];
}

export async function readLatestNumber(signal: AbortSignal): Promise<number> {
  return Number(await node.eth_blockNumber({}, { signal }));
}
