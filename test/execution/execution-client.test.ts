import { join } from "node:path";
import type { BeaconStateElectra } from "@lodestar/state-transition";
import { toHex, toRootHex } from "@lodestar/utils";
import { expect, it } from "vitest";
import { DevExecutionEngine } from "../../src/execution/dev-engine.ts";
import { openNetworkSource } from "../../src/node/chain-source/network-source.ts";
import type { DevNodeOptions } from "../../src/node/dev-node.ts";
import { StartError } from "../../src/node/start-error.ts";
import { openDataDirectory } from "../../src/node/storage/data-directory.ts";
import { Caller } from "../support/api/caller.ts";
import { openDevChain, startDevChain } from "../support/chain/dev-chain.ts";
import { FROM_GENESIS } from "../support/chain/settings.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { ExecutionClient } from "../support/execution/execution-client.ts";
import { EngineTimers } from "../support/execution/node-with-client.ts";
import { hold } from "../support/execution-layer/faults.ts";
import { createRecordingLogger } from "../support/log/recording-logger.ts";

it("starts a dev chain from the genesis block of its execution client, which builds all payloads", async () => {
  const client = await ExecutionClient.open({ chainId: 77 });
  const { layer } = client;
  const directory = tempDirectory();
  const options = { ...client.nodeOptions(), networkDirectory: join(directory, "network") };
  const opened = await startDevChain(options, directory);
  const { devChain } = opened;
  expect(devChain.config).toMatchObject({ DEPOSIT_CHAIN_ID: 77, TERMINAL_BLOCK_HASH_ACTIVATION_EPOCH: 0 });
  const header = (devChain.chain.headState as unknown as BeaconStateElectra).latestExecutionPayloadHeader;
  const { stateRoot } = layer.chain.evm.genesis.block.header;
  expect([toRootHex(header.blockHash), toRootHex(header.stateRoot)]).toEqual([layer.genesisHash, toRootHex(stateRoot)]);
  await devChain.clock.advanceTo(4);
  expect(devChain.chain.head.slot).toBe(4);
  expect(devChain.chain.status).toMatchObject({ isOptimistic: false, executionOffline: false });
  expect(layer.chain.head.block.header.number).toBe(4n);

  const caller = new Caller(devChain.api);
  expect(await caller.call("get_v2_node_version")).toMatchObject({
    execution_client: { code: "EJ", name: "execution layer for tests", version: "10.1.3", commit: "0x00000000" },
  });

  await client.stop();
  await devChain.clock.advanceTo(5);
  expect(devChain.chain.head.slot).toBe(4);
  expect(await caller.call("get_v1_node_syncing")).toMatchObject({ el_offline: true });
  await opened.close();
  expect(opened.complaints.join("")).toContain("Execution client is offline");

  // It continues where it stopped, only with the same client.
  await client.start();
  const again = await startDevChain(options, directory);
  await again.devChain.clock.advanceTo(8);
  expect(again.devChain.chain.head.slot).toBe(8);
  expect(layer.chain.head.block.header.number).toBe(7n);
  await again.close();
  expect(again.complaints).toEqual([]);

  const builtIn = startDevChain({ ...options, execution: undefined }, directory);
  await expect(builtIn).rejects.toThrow(
    "the payload builder is an execution client (--el) (requested: the built-in dev engine (--no-evm))",
  );

  const other = await ExecutionClient.open({ chainId: 77, genesisTime: 1_600_000_000 });
  const elsewhere = openDevChain({ ...options, ...other.nodeOptions() }, directory);
  await expect(elsewhere).rejects.toThrow(`The execution client ${other.url} has genesis block 0x`);

  // A joining node is optimistic unless it has its own client.
  const network = { name: "dev", directory: options.networkDirectory };
  const genesisState = join(options.networkDirectory, "genesis.ssz");
  for (const execution of [undefined, options.execution]) {
    const dataDir = tempDirectory();
    const db = await openDataDirectory(dataDir, { sync: false });
    const logger = createRecordingLogger();
    const source = await openNetworkSource(db, { ...FROM_GENESIS, dataDir, network, genesisState, execution, logger });
    expect(source.engine.state).toBe(execution ? "online" : "offline");
    expect(logger.records.some(({ message }) => message.startsWith("No execution client"))).toBe(!execution);
    source.engine.close?.();
    source.clock.close();
    await db.close();
  }
});

it("keeps the built-in engine for a dev chain that was created without a client", async () => {
  const client = await ExecutionClient.open();
  const directory = tempDirectory();
  const { execution, forks } = client.nodeOptions();
  const network = { name: "dev", directory: join(directory, "network") };
  const made = await startDevChain({ forks, networkDirectory: network.directory }, directory);
  await made.close();
  await expect(startDevChain({ forks, execution }, directory)).rejects.toThrow(
    "the payload builder is the built-in dev engine (--no-evm) (requested: an execution client (--el))",
  );
  const dataDir = tempDirectory();
  const db = await openDataDirectory(dataDir, { sync: false });
  const logger = createRecordingLogger();
  const genesisState = join(network.directory, "genesis.ssz");
  const source = await openNetworkSource(db, { ...FROM_GENESIS, dataDir, network, genesisState, execution, logger });
  expect(source.engine).toBeInstanceOf(DevExecutionEngine);
  expect(logger.records.map(({ message }) => message)).toContainEqual(expect.stringContaining("Ignoring --el"));
  source.clock.close();
  await db.close();
});

it("reports why a new dev chain cannot start with an execution client", async () => {
  const late = await ExecutionClient.open({ genesisTime: 4_000_000_000 });
  const directory = tempDirectory();
  const attempt = (client: ExecutionClient) => startDevChain(client.nodeOptions(), directory);
  await expect(attempt(late)).rejects.toThrow("execution client at 2096-10-02T07:06:40.000Z");
  const away = await ExecutionClient.open();
  await away.stop();
  await expect(attempt(away)).rejects.toThrow(StartError);
  await expect(attempt(away)).rejects.toThrow(`Cannot call eth_chainId at ${away.url}: connect ECONNREFUSED`);

  const used = await ExecutionClient.open();
  const made = await startDevChain(used.nodeOptions(), directory);
  await made.devChain.clock.advanceTo(2);
  await made.close();
  const again = startDevChain({ ...used.nodeOptions(), reset: true }, directory);
  await expect(again).rejects.toThrow(StartError);
  await expect(again).rejects.toThrow(
    `The execution client ${used.url} already has blocks of another chain, up to number 2.`,
  );
  const kept = await openDevChain(used.nodeOptions(), directory);
  expect(kept.devChain.chain.head.slot).toBe(2);
});

it("uses the deposit chain id of its execution client, and rejects a client with another one", async () => {
  const client = await ExecutionClient.open({ chainId: 77 });
  const contract = `0x${"12".repeat(20)}`;
  const deposits = { contract, followDistance: 8 };
  const directory = tempDirectory();
  const contradicted = startDevChain({ ...client.nodeOptions(), deposits: { ...deposits, chainId: 31337 } }, directory);
  await expect(contradicted).rejects.toThrow(StartError);
  await expect(contradicted).rejects.toThrow(
    `The deposit contract is on chain 31337, but the execution client ${client.url} has chain id 77.`,
  );

  const made = await startDevChain({ ...client.nodeOptions(), deposits }, directory);
  expect(made.devChain.config).toMatchObject({ DEPOSIT_CHAIN_ID: 77, DEPOSIT_NETWORK_ID: 77 });
  expect(toHex(made.devChain.config.DEPOSIT_CONTRACT_ADDRESS)).toBe(contract);
  await made.close();
  expect(made.complaints).toEqual([]);

  const again = await startDevChain({ ...client.nodeOptions(), deposits }, directory);
  await again.close();
  const other = await ExecutionClient.open({ chainId: 78 });
  const elsewhere = startDevChain({ ...other.nodeOptions(), deposits }, directory);
  await expect(elsewhere).rejects.toThrow(StartError);
  await expect(elsewhere).rejects.toThrow(
    `The execution client ${other.url} has chain id 78, but this chain uses chain id 77.`,
  );
});

it("aborts a start while its execution client hangs, and keeps the existing chain", async () => {
  const client = await ExecutionClient.open();
  const { calls, faults } = client.layer;
  const directory = tempDirectory();
  const options = client.nodeOptions();
  // Call timeouts never fire with these timers.
  const execution = { ...options.execution!, timers: new EngineTimers() };
  const held = hold();
  const endStart = async (more: Partial<DevNodeOptions> = {}) => {
    const stopping = new AbortController();
    const from = calls.all.length;
    const start = startDevChain({ ...options, execution, signal: stopping.signal, ...more }, directory);
    const ended = expect(start).rejects.toThrow("stopped by the test");
    await calls.until(({ method }) => method === "eth_chainId", { from });
    stopping.abort(new Error("stopped by the test"));
    await ended;
  };
  faults.set("eth_chainId", held.fault);
  await endStart();
  faults.clear();
  const made = await startDevChain(options, directory);
  const { genesisValidatorsRoot } = made.devChain.config;
  await made.close();
  faults.set("eth_chainId", held.fault);
  await endStart();
  await endStart({ reset: true, validators: 9 });
  faults.clear();
  held.release();
  const again = await openDevChain(options, directory);
  expect(again.devChain.config.genesisValidatorsRoot).toEqual(genesisValidatorsRoot);
});
