import { Failure } from "../errors/failure.ts";
import type { EthError } from "../evm/eth/eth-error.ts";

/** Returns the failure of an execution layer call, with geth's code. */
export function ethFailure({ message, code, data }: EthError): Failure {
  return new Failure("rejected", message, { rpc: { code, data } });
}
