import type { ReadMethods } from "../eth/eth-methods.ts";
import type { EthMethodName } from "../eth/eth-service.ts";

export type ReadName = keyof ReadMethods;

/** geth's limits. */
const CALL_MS = 5000;
const SEARCH_MS = 20_000;

/** Time limits for reads that always run in the read thread. */
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

/** True if a read is too heavy for the engine's thread, regardless of its arguments. */
export const isHeavyRead = (name: EthMethodName): name is ReadName => name in LIMITS;

/**
 * Returns the time limit for a read in milliseconds. Reads without an entry re-execute blocks of the chain or build the
 * next block.
 */
export const readLimit = (name: ReadName): number => LIMITS[name] ?? SEARCH_MS;
