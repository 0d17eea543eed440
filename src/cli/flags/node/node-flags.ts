import { DEFAULT_SYNC_SETTINGS, type SyncSettings } from "../../../sync/settings.ts";
import { NETWORK_CHAIN_FLAGS } from "../chain/chain-flags.ts";
import { KEY_FLAGS } from "../dev/dev-genesis-flags.ts";
import { devBlobsFlag, devValidatorsFlag } from "../dev/validator-flags.ts";
import { EXECUTION_FLAGS } from "../execution/execution-flags.ts";
import { type FlagsOf, type FlagTable, valueFlag } from "../flag.ts";
import { checkpointPin, epochsOrAll, fileOrUrl, httpUrl, nonEmpty, wholeNumber } from "../flag-values.ts";
import { networkFlags } from "../network/network-flags.ts";
import { dataDirFlag, SHARED_FLAGS } from "../shared-flags.ts";
import { BUILT_IN_NETWORKS } from "./preset.ts";

const { horizonSlots, backfillEpochs } = DEFAULT_SYNC_SETTINGS;

export const SYNC_FLAGS = {
  horizonSlots: valueFlag({
    name: "sync-horizon",
    kind: "number",
    placeholder: "SLOTS",
    description:
      "Slots the head may be behind the clock, without a peer confirming it, before the node reports syncing",
    fallback: horizonSlots,
    fallbackText: "1; with --no-p2p ten minutes of slots",
    parse: wholeNumber(0),
  }),
  backfillEpochs: valueFlag({
    name: "backfill-epochs",
    kind: "numberOrText",
    placeholder: "EPOCHS|all",
    description:
      "Epochs of history to backfill after a checkpoint start; 0 for none, all for everything back to genesis",
    fallback: backfillEpochs,
    fallbackText: "MIN_EPOCHS_FOR_BLOCK_REQUESTS",
    parse: epochsOrAll,
  }),
} as const satisfies FlagsOf<SyncSettings>;

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
  ...SYNC_FLAGS,
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
  ...NETWORK_CHAIN_FLAGS,
  ...networkFlags({ isOn: true, address: "0.0.0.0", isSupernode: false }),
  ...SHARED_FLAGS,
} as const satisfies FlagTable;
