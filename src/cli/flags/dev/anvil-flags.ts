const NO_MNEMONIC =
  "has no counterpart: the accounts are those of Anvil's default mnemonic, and --mnemonic is for keys of validators";
const NO_FORK = "has no counterpart: a dev chain starts from its own genesis and cannot fork another chain";

/**
 * Anvil flags that `fanal dev` lacks or names differently, without the "no-" prefix. Each text completes a sentence
 * starting with "Anvil's --FLAG". The library converts flags in these texts to options.
 */
export const ANVIL_FLAGS: ReadonlyMap<string, string> = new Map([
  ["port", "is --eth-rpc-port here, or --rpc-port for the methods of the beacon node"],
  ["host", "is --eth-rpc-address here, or --rpc-address for the methods of the beacon node"],
  ["block-time", "is --slot-seconds here, since each slot has a block"],
  ["mining", "is --no-auto here: the chain then advances for transactions and on request"],
  ["mixed-mining", "has no counterpart: each slot has a block, and on a paused chain each transaction gets one"],
  ["slots-in-an-epoch", "is part of --preset here"],
  ["init", "has no counterpart: methods such as anvil_setCode change the state"],
  ["cors", "is not needed: --rpc-allow-origin names the origins of pages with access"],
  ["ipc", "has no counterpart: clients use HTTP or WebSocket"],
  ["mnemonic-random", NO_MNEMONIC],
  ["mnemonic-seed-unsafe", NO_MNEMONIC],
  ["derivation-path", NO_MNEMONIC],
  ["steps-tracing", "is not needed: debug_traceTransaction traces every transaction"],
  ["disable-block-gas-limit", "is the method evm_setBlockGasLimit here"],
  ["accounts", "has no counterpart: ten accounts are funded, and the method anvil_setBalance funds others"],
  ["balance", "is the method anvil_setBalance here; --balances sets those of validators"],
  ["gas-limit", "is the method evm_setBlockGasLimit here"],
  ["base-fee", "is the method anvil_setNextBlockBaseFeePerGas here"],
  ["block-base-fee-per-gas", "is the method anvil_setNextBlockBaseFeePerGas here"],
  ["auto-impersonate", "is the method anvil_autoImpersonateAccount here"],
  ["hardfork", "is --fork here, with the names of the consensus layer, such as fulu for osaka"],
  ["timestamp", "is --genesis-time here"],
  ["state", "is --data-dir here, which keeps the chain"],
  ["dump-state", "is the method dev_dump here; --data-dir keeps the chain"],
  ["load-state", "is the method dev_load here; --data-dir keeps the chain"],
  ["quiet", "is --log-level here, such as ERROR"],
  ["silent", "is --log-level here, such as ERROR"],
  ["fork-url", NO_FORK],
  ["fork-block-number", NO_FORK],
  ["fork-chain-id", NO_FORK],
  ["rpc-url", NO_FORK],
]);

/** Short flags of Anvil. */
export const ANVIL_SHORT_FLAGS: ReadonlyMap<string, string> = new Map([
  ["a", "accounts"],
  ["b", "block-time"],
  ["f", "fork-url"],
  ["p", "port"],
]);

/** Fork names used on the execution layer, and combined names for both layers. */
export const FORK_ALIASES: ReadonlyMap<string, string> = new Map([
  ["paris", "bellatrix"],
  ["merge", "bellatrix"],
  ["shanghai", "capella"],
  ["shapella", "capella"],
  ["cancun", "deneb"],
  ["dencun", "deneb"],
  ["prague", "electra"],
  ["pectra", "electra"],
  ["osaka", "fulu"],
  ["fusaka", "fulu"],
  ["amsterdam", "gloas"],
  ["glamsterdam", "gloas"],
]);
