import type { EthChain } from "./eth-chain.ts";
import { accountMethods } from "./methods/account-methods.ts";
import { blockMethods } from "./methods/block-methods.ts";
import { callMethods } from "./methods/call-methods.ts";
import { chainMethods } from "./methods/chain-methods.ts";
import { configMethods } from "./methods/config-methods.ts";
import { feeMethods } from "./methods/fee-methods.ts";
import { logMethods } from "./methods/log-methods.ts";
import { poolMethods } from "./methods/pool-methods.ts";
import { rawMethods } from "./methods/raw-methods.ts";
import { stateMethods } from "./methods/state-methods.ts";
import { traceMethods } from "./methods/trace-methods.ts";
import { transactionMethods } from "./methods/transaction-methods.ts";

/**
 * All methods of the service by name. Each takes one object of arguments and, if it can be cancelled, a signal.
 * Arguments and results survive structured clone; results are the JSON of the response.
 */
export function ethMethods(chain: EthChain) {
  return {
    ...chainMethods(chain),
    ...configMethods(chain),
    ...accountMethods(chain),
    ...feeMethods(chain),
    ...blockMethods(chain),
    ...transactionMethods(chain),
    ...rawMethods(chain),
    ...stateMethods(chain),
    ...callMethods(chain),
    ...traceMethods(chain),
    ...logMethods(chain),
    ...poolMethods(chain),
  };
}

export type EthMethods = ReturnType<typeof ethMethods>;
