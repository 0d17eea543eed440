export type { EthSchema } from "../client/eth-schema.ts";
export * from "../client/index.ts";
export type {
  AdvanceOptions,
  BlockProofOptions,
  ChainActions,
  ChainCondition,
  Credentials,
  Duration,
  NewValidators,
  ProofPath,
  Snapshot,
  StateProofOptions,
  StateProofUpToBlock,
  UntilOptions,
  ValidatorSelection,
} from "./chain-actions.ts";
export type { ConfigName } from "./config-names.ts";
export type { Account, DevChain, DevChainOptions, ForksOf } from "./dev-chain.ts";
export type { EthEvents, EthMessage, EthProvider, EthRequest } from "./eth-provider.ts";
export { attachDevChain, startDevChain } from "./start-dev-chain.ts";
export { StartupError, type StartupErrorKind } from "./startup-error.ts";
export type { ValidatorActions } from "./validator-actions.ts";
