import { KZG_CHOICES } from "../../data/kzg/backend.ts";
import { BUILDER_FLAGS } from "./builder-flags.ts";
import { DEV_GENESIS_FLAGS, KEY_FLAGS } from "./dev-genesis-flags.ts";
import { EXECUTION_FLAGS } from "./execution-flags.ts";
import { booleanFlag, type FlagTable, listFlag, valueFlag } from "./flag.ts";
import {
  blobCounts,
  checkpointPin,
  epochsOrAll,
  feeRecipient,
  fileOrUrl,
  graffiti,
  httpUrl,
  nonEmpty,
  oneOf,
  positiveNumber,
  speedFactor,
  wholeNumber,
} from "./flag-values.ts";
import { LIMIT_FLAGS } from "./limit-flags.ts";
import { LOG_FLAGS } from "./log-flags.ts";
import { networkFlags } from "./network-flags.ts";
import { BUILT_IN_NETWORKS } from "./preset.ts";
import { serverFlags } from "./server-flags.ts";
import { parseValidatorChoice, parseValidatorList } from "./validator-list.ts";

/** Names the file the other settings may stand in, so it is the one setting that cannot stand in it. */
export const CONFIG_FILE_FLAG = valueFlag({
  name: "config-file",
  kind: "text",
  placeholder: "FILE",
  description: "YAML (.yaml, .yml) or TOML (.toml) file with settings; its keys are the names of these flags",
  fallback: undefined,
  parse: nonEmpty("a file"),
});

export const SHARED_FLAGS = {
  ...serverFlags({ areOn: false }),
  ...LOG_FLAGS,
  kzg: valueFlag({
    name: "kzg",
    kind: "text",
    placeholder: "NAME",
    description: `KZG backend that computes and verifies commitments of blobs: ${KZG_CHOICES.join(", ")}. auto takes the first one that loads`,
    choices: KZG_CHOICES,
    fallback: "auto",
    parse: oneOf(KZG_CHOICES),
  }),
  graffiti: valueFlag({
    name: "graffiti",
    kind: "text",
    placeholder: "TEXT",
    description: "Graffiti of proposed blocks: text of at most 32 bytes, or 0x and at most 64 hex digits",
    fallback: undefined,
    parse: graffiti,
  }),
  graffitiCodes: booleanFlag({
    name: "graffiti-codes",
    description:
      "Name the execution client and Fanal in the graffiti of proposed blocks, as in GE168dFA0001, where there is room",
    fallback: true,
  }),
  suggestedFeeRecipient: valueFlag({
    name: "suggested-fee-recipient",
    kind: "text",
    placeholder: "ADDRESS",
    description:
      "Fee recipient of blocks whose proposer was not prepared with one by its validator client; without it their fees go to the zero address",
    fallback: undefined,
    parse: feeRecipient,
  }),
  proposerReorgs: booleanFlag({
    name: "proposer-reorgs",
    description:
      "Build on the parent of a head that arrived after the attestation deadline and has hardly any votes, so that it is orphaned",
    fallback: true,
  }),
  monitorValidators: listFlag({
    name: "monitor-validators",
    placeholder: "INDICES|PUBKEYS",
    description:
      "Validators to log and measure the duties of, by index, range or public key, such as 0-63,100,0xa1b2…; repeatable",
    parse: parseValidatorChoice,
  }),
  eth1: listFlag({
    name: "eth1",
    placeholder: "URL",
    description:
      "Node of the chain that deposits are made on, by its JSON-RPC; repeatable, the next is asked when one fails",
    parse: httpUrl,
  }),
  trackFutures: booleanFlag({
    name: "track-futures",
    description: "Keep track of pending promises for debug_getChronosFutures, which slows the node down",
  }),
  ...BUILDER_FLAGS,
  ...LIMIT_FLAGS,
  configFile: CONFIG_FILE_FLAG,
} as const satisfies FlagTable;

function dataDirFlag(fallbackText: string) {
  return valueFlag({
    name: "data-dir",
    aliases: ["datadir"],
    kind: "text",
    placeholder: "DIR",
    description: "Directory that keeps the chain",
    fallback: undefined,
    fallbackText,
    parse: nonEmpty("a directory"),
  });
}

function devValidatorsFlag({ description, fallback }: { description: string; fallback: "none" | "all" }) {
  return valueFlag({
    name: "dev-validators",
    kind: "text",
    placeholder: "none|all|LIST",
    description,
    choices: ["none", "all"],
    fallback: parseValidatorList(fallback),
    fallbackText: fallback,
    parse: parseValidatorList,
  });
}

function devBlobsFlag(description: string) {
  return valueFlag({
    name: "dev-blobs",
    kind: "text",
    placeholder: "COUNT|LEAST-MOST",
    description,
    fallback: { least: 0, most: 0 },
    fallbackText: "0",
    parse: blobCounts,
  });
}

export const DEV_FLAGS = {
  ...DEV_GENESIS_FLAGS,
  devValidators: devValidatorsFlag({
    description: "Validators run in this process; LIST is indices and ranges such as 0-15,20",
    fallback: "all",
  }),
  devBlobs: devBlobsFlag(
    "Blobs that each block carries from deneb on, such as 0-6, as far as its fork allows; the built-in execution engine makes them",
  ),
  speed: valueFlag({
    name: "speed",
    kind: "number",
    placeholder: "FACTOR",
    description:
      "How many times faster than the wall clock chain time passes; fractions slow it down, and at 0 it stands still until it is told to go on",
    fallback: 1,
    parse: speedFactor,
  }),
  auto: booleanFlag({ name: "auto", description: "Let chain time pass by itself", fallback: true }),
  catchUp: booleanFlag({
    name: "catch-up",
    description:
      "Leave the slots empty that passed while the chain was stopped, and keep the time of day; needs --speed 1",
  }),
  reset: booleanFlag({ name: "reset", description: "Delete the chain in the data directory and start a new one" }),
  dataDir: dataDirFlag(".fanal/dev"),
  ...EXECUTION_FLAGS,
  // Its validators make all the blobs that there are, so that nobody else may have them.
  ...networkFlags({ isOn: false, address: "127.0.0.1", isSupernode: true }),
  ...SHARED_FLAGS,
} as const satisfies FlagTable;

export const NODE_FLAGS = {
  network: valueFlag({
    name: "network",
    kind: "text",
    placeholder: "NAME|DIR",
    description: "Network to join: mainnet, sepolia, hoodi, another name built in, or a directory with its config.yaml",
    choices: Object.keys(BUILT_IN_NETWORKS),
    fallback: "mainnet",
    parse: nonEmpty("a network's name or a directory"),
  }),
  syncHorizon: valueFlag({
    name: "sync-horizon",
    kind: "number",
    placeholder: "SLOTS",
    description:
      "How many slots the head may lie behind the clock, though no peer confirms it, before the node counts as syncing",
    fallback: undefined,
    fallbackText: "1; with --no-p2p ten minutes of slots",
    parse: wholeNumber(0),
  }),
  backfillEpochs: valueFlag({
    name: "backfill-epochs",
    kind: "text",
    placeholder: "EPOCHS|all",
    description:
      "How many epochs before the current one the history is fetched to, after a start from a later state; 0 fetches none, all goes back to genesis",
    fallback: undefined,
    fallbackText: "as many as every node has to serve (MIN_EPOCHS_FOR_BLOCK_REQUESTS)",
    parse: epochsOrAll,
  }),
  genesisState: valueFlag({
    name: "genesis-state",
    kind: "text",
    placeholder: "FILE|URL",
    description: "Genesis state (SSZ) of the network",
    fallback: undefined,
    parse: fileOrUrl,
  }),
  checkpointState: valueFlag({
    name: "checkpoint-state",
    kind: "text",
    placeholder: "FILE|URL",
    description: "Finalized state (SSZ) to start from instead of genesis",
    fallback: undefined,
    parse: fileOrUrl,
  }),
  checkpointBlock: valueFlag({
    name: "checkpoint-block",
    kind: "text",
    placeholder: "FILE|URL",
    description: "Newest block (SSZ) of the checkpoint state, so that the node can serve it",
    fallback: undefined,
    parse: fileOrUrl,
  }),
  checkpointSyncUrl: valueFlag({
    name: "checkpoint-sync-url",
    kind: "text",
    placeholder: "URL",
    description: "Trusted node's REST API to take the finalized state and its block from",
    fallback: undefined,
    parse: httpUrl,
  }),
  checkpointRoot: valueFlag({
    name: "checkpoint-root",
    kind: "text",
    placeholder: "ROOT[:EPOCH]",
    description:
      "Block root, and epoch, of the checkpoint to start from; a state of another block is refused before anything is stored",
    fallback: undefined,
    parse: checkpointPin,
  }),
  devValidators: devValidatorsFlag({
    description:
      "Validators of a dev chain's network to run in this process; LIST is indices and ranges such as 0-15,20",
    fallback: "none",
  }),
  devBlobs: devBlobsFlag("Blobs that each block of these validators carries from deneb on, such as 0-6"),
  ...KEY_FLAGS,
  dataDir: dataDirFlag(".fanal/<network>"),
  ...EXECUTION_FLAGS,
  safeSlotsToImportOptimistically: valueFlag({
    name: "safe-slots-to-import-optimistically",
    kind: "number",
    placeholder: "SLOTS",
    description:
      "How old the first block with a payload has to be for it to be followed before its execution client knows the chain",
    fallback: 128,
    parse: wholeNumber(0),
  }),
  ...networkFlags({ isOn: true, address: "0.0.0.0", isSupernode: false }),
  ...SHARED_FLAGS,
} as const satisfies FlagTable;

export const CALL_FLAGS = {
  url: valueFlag({
    name: "url",
    kind: "text",
    placeholder: "URL",
    description: "Where the node serves JSON-RPC",
    fallback: "http://127.0.0.1:9190",
    parse: httpUrl,
  }),
  tokenFile: valueFlag({
    name: "token-file",
    kind: "text",
    placeholder: "FILE",
    description: "File with the token that the node wants of its callers",
    fallback: undefined,
    parse: nonEmpty("a file"),
  }),
  json: booleanFlag({ name: "json", description: "Print the result as the JSON that the node sent" }),
  meta: booleanFlag({ name: "meta", description: "Ask for the metadata of the result, and print it after it" }),
  timeout: valueFlag({
    name: "timeout",
    kind: "number",
    placeholder: "SECONDS",
    description: "How long to wait for the node before giving up",
    fallback: 60,
    parse: positiveNumber,
  }),
} as const satisfies FlagTable;

export const METHODS_FLAGS = {
  json: booleanFlag({ name: "json", description: "Print them as JSON" }),
} as const satisfies FlagTable;

export const DB_FLAGS = {
  dataDir: dataDirFlag("none, it has to be given"),
  network: valueFlag({
    name: "network",
    kind: "text",
    placeholder: "NAME|DIR",
    description: "Network of the chain, if it is not built in: the directory with its config.yaml",
    fallback: undefined,
    fallbackText: "the one that the database names",
    parse: nonEmpty("a network's name or a directory"),
  }),
} as const satisfies FlagTable;
