import { DEV_FORKS } from "../../dev/forks.ts";
import { type FlagTable, listFlag, valueFlag } from "./flag.ts";
import { contractAddress, nonEmpty, oneOf, wholeNumber } from "./flag-values.ts";
import { parseForkActivation } from "./fork-schedule.ts";
import { configValue, ether, forValidators, indexRange, withdrawalTarget } from "./genesis-values.ts";

export const DEV_PRESETS = ["minimal", "mainnet"] as const;

/** A year. Slots that are much longer soon come to times that have no date. */
const LONGEST_SLOT_SECONDS = 31_536_000;
/** The last time that has a date in ECMAScript (ECMA-262, Time Values and Time Range). */
const LAST_SECOND = 8_640_000_000_000;

/** Which keys the validators of a dev chain have. */
export const KEY_FLAGS = {
  interopKeys: valueFlag({
    name: "interop-keys",
    kind: "text",
    placeholder: "FIRST|FIRST-LAST",
    description:
      "Which of the well-known test keys the validators of a dev chain have, in their order, such as 100-163",
    fallback: undefined,
    fallbackText: "those from 0 on",
    parse: indexRange,
  }),
  mnemonicFile: valueFlag({
    name: "mnemonic-file",
    kind: "text",
    placeholder: "FILE",
    description:
      "File with a BIP-39 mnemonic that the keys of a dev chain's validators are derived from, at m/12381/3600/i/0/0",
    fallback: undefined,
    parse: nonEmpty("a file"),
  }),
  mnemonic: valueFlag({
    name: "mnemonic",
    kind: "text",
    placeholder: "WORDS",
    description: "The mnemonic itself, which others on the machine can then see",
    fallback: undefined,
    parse: nonEmpty("a mnemonic"),
  }),
} as const satisfies FlagTable;

/**
 * What a new dev chain is made with. None has a fallback of its own: where a chain is stored already, what is not given is as it
 * is there.
 */
export const DEV_GENESIS_FLAGS = {
  validators: valueFlag({
    name: "validators",
    kind: "number",
    placeholder: "COUNT",
    description: "Validators of the chain",
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
    fallbackText: `${DEV_FORKS.at(-1)}, or the one before those of --fork-at`,
    parse: oneOf(DEV_FORKS),
  }),
  forkAt: listFlag({
    name: "fork-at",
    placeholder: "NAME=EPOCH",
    description: "Fork to upgrade to in an epoch; repeatable, or several separated by commas",
    choices: DEV_FORKS.map((fork) => `${fork}=`),
    parse: parseForkActivation,
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
    parse: wholeNumber(1, LONGEST_SLOT_SECONDS),
  }),
  warmupEpochs: valueFlag({
    name: "warmup-epochs",
    kind: "number",
    placeholder: "COUNT",
    description: "Epochs a new chain is built ahead before it starts to run live",
    fallback: undefined,
    fallbackText: "5",
    parse: wholeNumber(0),
  }),
  genesisTime: valueFlag({
    name: "genesis-time",
    kind: "number",
    placeholder: "SECONDS",
    description: "Unix time at which a new chain begins; at --speed 1 the slots since then are built ahead, too",
    fallback: undefined,
    fallbackText: "now, less the time of the epochs built ahead",
    parse: wholeNumber(1, LAST_SECOND),
  }),
  withdrawals: listFlag({
    name: "withdrawal-credentials",
    placeholder: "[INDICES=]PREFIX[:ADDRESS]",
    description:
      "Withdrawal credentials of a new chain's validators: 0x00, or 0x01 or 0x02 with an address, such as 0-15=0x01:0x…; repeatable. " +
      "Without an address each has one that is derived from its public key",
    fallbackText: "0x00",
    parse: forValidators(withdrawalTarget),
  }),
  balances: listFlag({
    name: "balances",
    placeholder: "[INDICES=]ETHER",
    description:
      "Balances of a new chain's validators, such as 0-7=2048,8-15=16; repeatable. Who has less than 32 is not active",
    fallbackText: "32",
    parse: forValidators(ether),
  }),
  config: listFlag({
    name: "config",
    placeholder: "KEY=VALUE",
    description: "Constant of a new chain's configuration, such as CHURN_LIMIT_QUOTIENT=16; repeatable",
    parse: configValue,
  }),
  ...KEY_FLAGS,
  depositContract: valueFlag({
    name: "deposit-contract",
    kind: "text",
    placeholder: "ADDRESS",
    description: "Deposit contract that makes further validators of a new chain, on the chain that --eth1 follows",
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
    description: "How many blocks, each as long as a slot, votes keep behind the head of the deposit contract's chain",
    fallback: undefined,
    fallbackText: "as many as a voting period has slots",
    parse: wholeNumber(1, 100_000),
  }),
} as const satisfies FlagTable;
