import type { EvmEngine } from "../engine/evm-engine.ts";
import type { GasEstimator } from "./accounts/signer.ts";
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
import { type AccountArgs, stateMethods } from "./methods/state-methods.ts";
import { traceMethods } from "./methods/trace-methods.ts";
import { transactionMethods } from "./methods/transaction-methods.ts";

/**
 * Methods that a replica of the engine can also answer. Each takes one object of arguments and, if it can be cancelled,
 * a signal. Arguments and results can be structured-cloned; results are the response's JSON.
 */
export function readMethods(chain: EthChain) {
  return {
    ...feeMethods(chain),
    ...blockMethods(chain),
    ...rawMethods(chain),
    ...stateMethods(chain),
    ...callMethods(chain),
    ...traceMethods(chain),
    ...logMethods(chain),
  };
}

/** All methods of the service, by name. */
export function ethMethods(chain: EthChain<EvmEngine>, estimateGas: GasEstimator) {
  const reads = readMethods(chain);
  const pool = poolMethods(chain);
  return {
    ...reads,
    ...pool,
    ...chainMethods(chain),
    ...configMethods(chain),
    ...accountMethods(chain, estimateGas),
    ...transactionMethods(chain),
    getTransactionCount: (args: AccountArgs) =>
      isPending(args) ? pool.pooledTransactionCount(args) : reads.getTransactionCount(args),
  };
}

const isPending = ({ block }: AccountArgs): boolean => block !== undefined && "tag" in block && block.tag === "pending";

export type ReadMethods = ReturnType<typeof readMethods>;
export type EthMethods = ReturnType<typeof ethMethods>;
