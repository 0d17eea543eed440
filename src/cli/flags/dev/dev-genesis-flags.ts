import { DEFAULT_FORK, DEV_FORKS } from "../../../dev/forks.ts";
import { type FlagTable, listFlag, undecidedFlag, valueFlag } from "../flag.ts";
import { contractAddress, nonEmpty, oneOf, wholeNumber } from "../flag-values.ts";
import { parseFork, parseForkActivation } from "./fork-schedule.ts";
import { builderCount, configValue, ether, indexRange, validatorRange, withdrawalTarget } from "./genesis-values.ts";

export const DEV_PRESETS = ["minimal", "mainnet"] as const;

/** One year. With much longer slots, the chain would soon exceed the range of dates. */
const MAX_SLOT_SECONDS = 31_536_000;
/** Last second in the range of ECMAScript dates (ECMA-262, Time Values and Time Range). */
const LAST_SECOND = 8_640_000_000_000;

/** Flags for the validator keys of a dev chain. */
export const KEY_FLAGS = {
  interopKeys: valueFlag({
    name: "interop-keys",
    kind: "numberOrText",
    placeholder: "FIRST|FIRST-LAST",
    description: "Interop keys of the dev chain's validators, such as 100-163",
    fallback: undefined,
    fallbackText: "from 0 on",
    parse: indexRange,
  }),
  mnemonicFile: valueFlag({
    name: "mnemonic-file",
    kind: "text",
    placeholder: "FILE",
    description:
      "File with a BIP-39 mnemonic from which the dev chain's validator keys are derived, at m/12381/3600/i/0/0",
    fallback: undefined,
    parse: nonEmpty("a file"),
  }),
  mnemonic: valueFlag({
    name: "mnemonic",
    kind: "text",
    placeholder: "WORDS",
    description: "The mnemonic itself; visible to other users of the machine",
    fallback: undefined,
    parse: nonEmpty("a mnemonic"),
  }),
} as const satisfies FlagTable;

/**
 * Genesis flags of a dev chain. They have no static defaults, because omitted flags default to the stored chain first.
 */
export const DEV_GENESIS_FLAGS = {
  validators: valueFlag({
    name: "validators",
    kind: "number",
    placeholder: "COUNT",
    description: "Number of validators",
    fallback: undefined,
    fallbackText: "64",
    parse: wholeNumber(1),
  }),
  fork: valueFlag({
    name: "fork",
    kind: "text",
    placeholder: "NAME",
    description: `Fork the chain starts in: ${DEV_FORKS.join(", ")}`,
    choices: DEV_FORKS,
    fallback: undefined,
    fallbackText: `${DEFAULT_FORK}, or the one before those of --fork-at`,
    parse: parseFork,
  }),
  forkAt: listFlag({
    name: "fork-at",
    placeholder: "NAME=EPOCH",
    description: "Fork to upgrade to in an epoch; repeatable, or several separated by commas",
    choices: DEV_FORKS.map((fork) => `${fork}=`),
    parse: parseForkActivation,
  }),
  gloasAt: valueFlag({
    name: "gloas-at",
    kind: "number",
    placeholder: "EPOCH",
    description: "Epoch to upgrade to gloas in, same as --fork-at gloas=EPOCH",
    fallback: undefined,
    fallbackText: "never",
    parse: wholeNumber(0),
  }),
  builders: valueFlag({
    name: "builders",
    kind: "numberOrText",
    placeholder: "COUNT[:ETHER]",
    description: "Builders of a new chain, from gloas on, and their balance, such as 2:500",
    fallback: undefined,
    fallbackText: "none; 100 ether each",
    parse: builderCount,
  }),
  preset: valueFlag({
    name: "preset",
    kind: "text",
    placeholder: "NAME",
    description: "Preset of the chain, minimal or mainnet",
    choices: DEV_PRESETS,
    fallback: undefined,
    fallbackText: "minimal",
    parse: oneOf(DEV_PRESETS),
  }),
  slotSeconds: valueFlag({
    name: "slot-seconds",
    kind: "number",
    placeholder: "SECONDS",
    description: "Length of a slot in whole seconds of chain time",
    fallback: undefined,
    fallbackText: "2",
    parse: wholeNumber(1, MAX_SLOT_SECONDS),
  }),
  warmupEpochs: valueFlag({
    name: "warmup-epochs",
    kind: "number",
    placeholder: "COUNT",
    description: "Epochs of history that a new chain produces before it runs live",
    fallback: undefined,
    fallbackText: "5",
    parse: wholeNumber(0),
  }),
  genesisTime: valueFlag({
    name: "genesis-time",
    kind: "number",
    placeholder: "SECONDS",
    description: "Genesis time of a new chain, in Unix seconds; at --speed 1 the slots since then are produced too",
    fallback: undefined,
    fallbackText: "now, minus the warm-up epochs",
    parse: wholeNumber(1, LAST_SECOND),
  }),
  withdrawals: listFlag({
    name: "withdrawal-credentials",
    placeholder: "[INDICES=]PREFIX[:ADDRESS]",
    description:
      "Withdrawal credentials of a new chain's validators: 0x00, or 0x01 or 0x02 with an address, " +
      "such as 0-15=0x01:0x…; repeatable. " +
      "Without an address, one is derived from the public key",
    fallbackText: "0x01 and the last funded account; without the EVM 0x00",
    parse: validatorRange(withdrawalTarget),
  }),
  balances: listFlag({
    name: "balances",
    placeholder: "[INDICES=]ETHER",
    description:
      "Balances of a new chain's validators, such as 0-7=2048,8-15=16; repeatable. Validators below 32 are not active",
    fallbackText: "32",
    parse: validatorRange(ether),
  }),
  config: listFlag({
    name: "config",
    placeholder: "KEY=VALUE",
    description: "Constant of a new chain's configuration, such as CHURN_LIMIT_QUOTIENT=16; repeatable",
    parse: configValue,
  }),
  evm: undecidedFlag({
    name: "evm",
    description: "Execute every payload of a new chain with an EVM, whose ten test accounts have 10,000 ETH each",
    fallbackText: "on, off with --no-evm, --el, --deposit-contract, --dev-blobs and a start in phase0 or altair",
  }),
  chainId: valueFlag({
    name: "chain-id",
    kind: "number",
    placeholder: "ID",
    description: "Chain id of a new chain with the EVM",
    fallback: undefined,
    fallbackText: "31337",
    parse: wholeNumber(1),
  }),
  ...KEY_FLAGS,
  depositContract: valueFlag({
    name: "deposit-contract",
    kind: "text",
    placeholder: "ADDRESS",
    description: "Deposit contract of a new chain, on the chain that --eth1 follows",
    fallback: undefined,
    parse: contractAddress,
  }),
  depositChainId: valueFlag({
    name: "deposit-chain-id",
    kind: "number",
    placeholder: "ID",
    description: "Chain id of the deposit contract's chain",
    fallback: undefined,
    fallbackText: "that of the --el client, 31337 without one",
    parse: wholeNumber(1),
  }),
  eth1FollowDistance: valueFlag({
    name: "eth1-follow-distance",
    kind: "number",
    placeholder: "BLOCKS",
    description: "Follow distance of eth1 votes in blocks of the deposit chain; a block is assumed to last one slot",
    fallback: undefined,
    fallbackText: "slots of a voting period",
    parse: wholeNumber(1, 100_000),
  }),
} as const satisfies FlagTable;
