import { Failure } from "../errors/failure.ts";
import type { EthError } from "../evm/eth/eth-error.ts";

/** Returns the failure of a call of the execution layer, with geth's code. */
export function ethFailure({ message, code, data }: EthError): Failure {
  return new Failure("rejected", message, { rpc: { code, data } });
}
