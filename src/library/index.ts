export * from "../client/index.ts";
export type { DevChain, DevChainOptions } from "./dev-chain.ts";
export { attachDevChain, startDevChain } from "./start-dev-chain.ts";
