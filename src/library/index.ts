export * from "../client/index.ts";
export type { Account, DevChain, DevChainOptions } from "./dev-chain.ts";
export type { EthEvents, EthMessage, EthProvider, EthRequest } from "./eth-provider.ts";
export { attachDevChain, startDevChain } from "./start-dev-chain.ts";
