import type { MonitorSelection } from "../chain/monitor/monitored-validators.ts";
import type { BuilderSettings } from "../chain/production/builder-settings.ts";
import type { ChainSettings } from "../chain/settings.ts";
import type { KzgChoice } from "../data/kzg/backend.ts";
import type { NetworkSettings } from "../network/network-settings.ts";
import type { ExecutionSettings } from "./execution/execution-client.ts";

// Type imports only: the command line loads this file before it selects the preset.

/** Settings of every node: one object per part. */
export interface NodeSettings {
  /** An absolute path. */
  dataDir: string;
  chain: ChainSettings;
  kzgBackend: KzgChoice;
  /** Undefined if there is no network. */
  networking: NetworkSettings | undefined;
  /** Undefined if there is no execution client. */
  execution: ExecutionSettings | undefined;
  /** Undefined if there is no external builder. */
  builder: BuilderSettings | undefined;
  /** URLs of deposit chain nodes; empty if the deposit chain is not followed. */
  eth1: readonly string[];
  /** Undefined if no validators are monitored. */
  monitorValidators: MonitorSelection | undefined;
}
