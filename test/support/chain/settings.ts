import { DEFAULT_CHAIN_SETTINGS } from "../../../src/chain/settings.ts";
import type { DevSettings } from "../../../src/dev/settings.ts";
import type { NodeSettings } from "../../../src/node/settings.ts";

/** Settings of a node without network, execution client and builder. */
export const NODE_SETTINGS: Omit<NodeSettings, "dataDir"> = {
  chain: DEFAULT_CHAIN_SETTINGS,
  kzgBackend: "auto",
  networking: undefined,
  execution: undefined,
  builder: undefined,
  eth1: [],
  monitorValidators: undefined,
};

/** Settings of a dev chain in real time, without history. */
export const DEV_SETTINGS: DevSettings = {
  validators: 16,
  forks: [],
  slotSeconds: 2,
  warmupEpochs: 0,
  genesisTime: undefined,
  keys: undefined,
  withdrawals: undefined,
  balances: undefined,
  builders: undefined,
  configOverrides: undefined,
  deposits: undefined,
  evm: undefined,
  activeValidators: undefined,
  devBlobs: { min: 0, max: 0 },
  speed: 1,
  catchUp: false,
  reset: false,
};

/** Settings of a network's chain that starts from the genesis state. */
export const FROM_GENESIS = { genesisState: undefined, checkpoint: undefined, execution: undefined } as const;
