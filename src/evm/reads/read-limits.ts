import type { ReadMethods } from "../eth/eth-methods.ts";
import type { EthMethodName } from "../eth/eth-service.ts";

export type ReadName = keyof ReadMethods;

/** Limits of geth. */
const CALL_MS = 5000;
const SEARCH_MS = 20_000;

/** Time limits of reads that always run in the thread for reads. */
const LIMITS: Readonly<Partial<Record<ReadName, number>>> = {
  call: CALL_MS,
  estimateGas: CALL_MS,
  createAccessList: CALL_MS,
  simulate: CALL_MS,
  traceTransaction: CALL_MS,
  traceBlock: CALL_MS,
  traceCall: CALL_MS,
  getLogs: SEARCH_MS,
};

/** True if a read is too heavy for the thread of the engine, regardless of its arguments. */
export const isHeavyRead = (name: EthMethodName): name is ReadName => name in LIMITS;

/**
 * Time limit of a read in milliseconds. Reads without an entry execute blocks of the chain again, or build the next
 * block.
 */
export const readLimit = (name: ReadName): number => LIMITS[name] ?? SEARCH_MS;
