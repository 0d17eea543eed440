import { KZG_CHOICES } from "../../data/kzg/backend.ts";
import { DEV_GENESIS_FLAGS, KEY_FLAGS } from "./dev/dev-genesis-flags.ts";
import { parseValidatorChoice, parseValidatorList } from "./dev/validator-list.ts";
import { BUILDER_FLAGS } from "./execution/builder-flags.ts";
import { EXECUTION_FLAGS } from "./execution/execution-flags.ts";
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
import { LOG_FLAGS } from "./log-flags.ts";
import { networkFlags } from "./network/network-flags.ts";
import { BUILT_IN_NETWORKS } from "./node/preset.ts";
import { LIMIT_FLAGS } from "./server/limit-flags.ts";
import { serverFlags } from "./server/server-flags.ts";

/** Config file flag; the only one that is not allowed in a config file. */
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
    description: `KZG backend for blobs: ${KZG_CHOICES.join(", ")}. auto uses the first that loads`,
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
    description: "Append the client versions to the graffiti of proposed blocks, as in GE168dFA0001, if they fit",
    fallback: true,
  }),
  suggestedFeeRecipient: valueFlag({
    name: "suggested-fee-recipient",
    kind: "text",
    placeholder: "ADDRESS",
    description: "Fee recipient for proposers that the validator client has not prepared; the zero address by default",
    fallback: undefined,
    parse: feeRecipient,
  }),
  proposerReorgs: booleanFlag({
    name: "proposer-reorgs",
    description: "Reorg late heads with few votes: build on their parent (proposer boost reorg)",
    fallback: true,
  }),
  monitorValidators: listFlag({
    name: "monitor-validators",
    placeholder: "INDICES|PUBKEYS",
    description: "Validators to monitor, by index, range or public key, such as 0-63,100,0xa1b2…; repeatable",
    parse: parseValidatorChoice,
  }),
  eth1: listFlag({
    name: "eth1",
    placeholder: "URL",
    description: "JSON-RPC of a node of the deposit chain; repeatable, later ones are failovers",
    parse: httpUrl,
  }),
  trackFutures: booleanFlag({
    name: "track-futures",
    description: "Track pending promises for debug_getChronosFutures; slows the node down",
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
    description: "Data directory of the chain",
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
    "Blobs per block from deneb on, such as 0-6, up to the limit of the fork; created by the built-in execution engine",
  ),
  speed: valueFlag({
    name: "speed",
    kind: "number",
    placeholder: "FACTOR",
    description:
      "Speed of chain time relative to the wall clock; fractions slow it down, 0 pauses it until a call resumes it",
    fallback: 1,
    parse: speedFactor,
  }),
  auto: booleanFlag({ name: "auto", description: "Run chain time; --no-auto starts paused", fallback: true }),
  catchUp: booleanFlag({
    name: "catch-up",
    description:
      "Leave slots empty that passed while the chain was stopped, and follow the time of day; requires --speed 1",
  }),
  reset: booleanFlag({ name: "reset", description: "Delete the chain in the data directory and start a new one" }),
  dataDir: dataDirFlag(".fanal/dev"),
  ...EXECUTION_FLAGS,
  // Its validators create all blobs, so other nodes may not have all columns.
  ...networkFlags({ isOn: false, address: "127.0.0.1", isSupernode: true }),
  ...SHARED_FLAGS,
} as const satisfies FlagTable;

export const NODE_FLAGS = {
  network: valueFlag({
    name: "network",
    kind: "text",
    placeholder: "NAME|DIR",
    description: "Network to join: mainnet, sepolia, hoodi, another built-in name, or a directory with config.yaml",
    choices: Object.keys(BUILT_IN_NETWORKS),
    fallback: "mainnet",
    parse: nonEmpty("a network's name or a directory"),
  }),
  syncHorizon: valueFlag({
    name: "sync-horizon",
    kind: "number",
    placeholder: "SLOTS",
    description:
      "Slots the head may be behind the clock, without a peer confirming it, before the node reports syncing",
    fallback: undefined,
    fallbackText: "1; with --no-p2p ten minutes of slots",
    parse: wholeNumber(0),
  }),
  backfillEpochs: valueFlag({
    name: "backfill-epochs",
    kind: "text",
    placeholder: "EPOCHS|all",
    description:
      "Epochs of history to backfill after a checkpoint start; 0 for none, all for everything back to genesis",
    fallback: undefined,
    fallbackText: "MIN_EPOCHS_FOR_BLOCK_REQUESTS",
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
    description: "Latest block (SSZ) of the checkpoint state",
    fallback: undefined,
    parse: fileOrUrl,
  }),
  checkpointSyncUrl: valueFlag({
    name: "checkpoint-sync-url",
    kind: "text",
    placeholder: "URL",
    description: "REST API of a trusted node that provides the finalized state and its block",
    fallback: undefined,
    parse: httpUrl,
  }),
  checkpointRoot: valueFlag({
    name: "checkpoint-root",
    kind: "text",
    placeholder: "ROOT[:EPOCH]",
    description: "Block root, optionally with epoch, of the checkpoint to start from; any other state is rejected",
    fallback: undefined,
    parse: checkpointPin,
  }),
  devValidators: devValidatorsFlag({
    description:
      "Validators of a dev chain's network to run in this process; LIST is indices and ranges such as 0-15,20",
    fallback: "none",
  }),
  devBlobs: devBlobsFlag("Blobs per block of these validators from deneb on, such as 0-6"),
  ...KEY_FLAGS,
  dataDir: dataDirFlag(".fanal/<network>"),
  ...EXECUTION_FLAGS,
  safeSlotsToImportOptimistically: valueFlag({
    name: "safe-slots-to-import-optimistically",
    kind: "number",
    placeholder: "SLOTS",
    description: "Age of the merge block from which on it is imported optimistically (sync/optimistic.md)",
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
    description: "JSON-RPC URL of the node",
    fallback: "http://127.0.0.1:9190",
    parse: httpUrl,
  }),
  tokenFile: valueFlag({
    name: "token-file",
    kind: "text",
    placeholder: "FILE",
    description: "File with the bearer token of the node",
    fallback: undefined,
    parse: nonEmpty("a file"),
  }),
  json: booleanFlag({ name: "json", description: "Print the result as JSON" }),
  meta: booleanFlag({ name: "meta", description: "Request metadata and print it after the result" }),
  timeout: valueFlag({
    name: "timeout",
    kind: "number",
    placeholder: "SECONDS",
    description: "Timeout in seconds",
    fallback: 60,
    parse: positiveNumber,
  }),
} as const satisfies FlagTable;

export const METHODS_FLAGS = {
  json: booleanFlag({ name: "json", description: "Print JSON" }),
} as const satisfies FlagTable;

export const DB_FLAGS = {
  dataDir: dataDirFlag("none, required"),
  network: valueFlag({
    name: "network",
    kind: "text",
    placeholder: "NAME|DIR",
    description: "Network of the chain if it is not built in: directory with config.yaml",
    fallback: undefined,
    fallbackText: "the network stored in the database",
    parse: nonEmpty("a network's name or a directory"),
  }),
} as const satisfies FlagTable;
