import { Registry } from "prom-client";
import type { EventStream } from "../api/event-stream.ts";
import type { Lanes } from "../api/lanes.ts";
import type { BeaconChain } from "../chain/chain.ts";
import type { ValidatorMonitor } from "../chain/monitor/validator-monitor.ts";
import type { BeaconDb } from "../db/beacon-db.ts";
import type { ExecutionEngine } from "../execution/engine.ts";
import type { DepositChain } from "../execution/eth1/deposit-chain.ts";
import type { NetworkView } from "../network/network-view.ts";
import type { CallStats } from "../server/call-stats.ts";
import { CallMetrics } from "./call-metrics.ts";
import { addChainMetrics } from "./chain-metrics.ts";
import { addDataMetrics } from "./data-metrics.ts";
import { addExecutionMetrics } from "./execution-metrics.ts";
import { Instruments } from "./instruments.ts";
import { addMonitorMetrics } from "./monitor-metrics.ts";
import { addNetworkMetrics, addSyncMetrics, type NetworkingSource } from "./network-metrics.ts";
import { addProcessMetrics } from "./process-metrics.ts";
import { addEventMetrics, addLaneMetrics, addServerMetrics, type WatchedServers } from "./server-metrics.ts";

interface MetricsParts {
  chain: BeaconChain;
  engine: ExecutionEngine;
  db: BeaconDb;
  network: NetworkView;
  /** Omitted if the node has no network. */
  networking?: NetworkingSource;
  /** Omitted if the deposit chain is not followed. */
  eth1?: { readonly isConnected: boolean };
  /** Omitted if no validators are monitored. */
  monitor?: ValidatorMonitor;
  events: EventStream;
  lanes: Lanes;
}

/** Prometheus metrics for a node. */
export class Metrics {
  readonly #calls: CallMetrics;
  readonly #registry = new Registry();
  #servers: WatchedServers | undefined;
  readonly #stopChainMetrics: () => void;

  constructor({ chain, engine, db, network, networking, eth1, monitor, events, lanes }: MetricsParts) {
    const instruments = new Instruments(this.#registry);
    this.#stopChainMetrics = addChainMetrics(instruments, chain);
    if (monitor) addMonitorMetrics(instruments, monitor);
    addDataMetrics(instruments, chain, db);
    addExecutionMetrics(instruments, engine);
    addDepositMetrics(instruments, chain.eth1.deposits, eth1);
    addSyncMetrics(instruments, chain, networking);
    addNetworkMetrics(instruments, network, networking);
    this.#calls = new CallMetrics(instruments);
    addLaneMetrics(instruments, lanes, () => this.#servers);
    addServerMetrics(instruments, () => this.#servers);
    addEventMetrics(instruments, events);
    addDatabaseMetrics(instruments, db);
    addProcessMetrics(instruments, this.#registry);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Adds call statistics reported by the servers. */
  addCalls(calls: Iterable<CallStats>): void {
    for (const stats of calls) this.#calls.add(stats);
  }

  /** Sets the servers whose load is reported. */
  watch(servers: WatchedServers): void {
    this.#servers = servers;
  }

  /** Returns all metrics in the Prometheus text format. */
  async text(): Promise<string> {
    await this.#servers?.refresh();
    return this.#registry.metrics();
  }

  close(): void {
    this.#stopChainMetrics();
    this.#registry.clear();
  }
}

function addDepositMetrics(instruments: Instruments, deposits: DepositChain, eth1: MetricsParts["eth1"]): void {
  instruments.gauge("fanal_eth1_connected", "1 while a deposit chain node is available, else 0", () =>
    Number(eth1?.isConnected ?? false),
  );
  instruments.gauge(
    "fanal_eth1_block",
    "Number of the last processed deposit chain block, which lags the head by the follow distance",
    () => deposits.newest?.number ?? 0,
  );
  instruments.gauge("fanal_eth1_deposits", "Deposits up to that block", () => deposits.depositCount);
}

function addDatabaseMetrics(instruments: Instruments, db: BeaconDb): void {
  instruments.gauge("fanal_database_bytes", "Disk usage of the database", () => db.diskBytes());
  instruments.gauges("fanal_disk_free_bytes", "Free space on the disk of the database", [], async () => {
    const bytes = await db.freeDiskBytes();
    return bytes === undefined ? [] : [[{}, bytes] as const];
  });
}
