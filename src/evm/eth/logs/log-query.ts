import { LATEST, type NumberedBlock } from "../block-id.ts";
import { EthError } from "../eth-error.ts";
import type { LogCriteria } from "./log-matcher.ts";

/** Query for the logs in a range of canonical blocks or in a single block. */
export interface LogQuery extends LogCriteria {
  fromBlock?: NumberedBlock | undefined;
  toBlock?: NumberedBlock | undefined;
  /** Mutually exclusive with a range. */
  blockHash?: string | undefined;
}

const INVALID_PARAMS = -32602;

/** Throws an `EthError` if a query's range would be empty on any chain. */
export function checkRange({ fromBlock = LATEST, toBlock = LATEST }: LogQuery): void {
  if ([fromBlock, toBlock].some((block) => "tag" in block && block.tag === "pending")) {
    throw new EthError("pending logs are not supported", INVALID_PARAMS);
  }
  if ("number" in fromBlock && "number" in toBlock && fromBlock.number > toBlock.number) throw invalidRange();
}

export const invalidRange = () => new EthError("invalid block range params", INVALID_PARAMS);
