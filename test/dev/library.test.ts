import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ENR } from "@chainsafe/enr";
import { expect, it, onTestFinished, vi } from "vitest";
import {
  attachDevChain,
  type ChainEvent,
  createClient,
  type DevChainOptions,
  type Hex,
  StartupError,
  startDevChain,
} from "../../src/library/index.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { isFullTier } from "../support/suite/tier.ts";

const LIBRARY = new URL("../../src/library/index.ts", import.meta.url).href;

/** Few validators and no EVM are enough for these tests. */
const FEW = { validators: 8, evm: false } as const;

async function start(options: DevChainOptions = {}) {
  const chain = await startDevChain({ ...FEW, ...options });
  onTestFinished(() => chain.stop());
  return chain;
}

/** Sets the directory of temporary files for this test. Returns a function that lists it. */
function ownTemporaryFiles(): () => string[] {
  const directory = tempDirectory();
  vi.stubEnv("TMPDIR", directory);
  onTestFinished(() => void vi.unstubAllEnvs());
  return () => readdirSync(directory, { recursive: true, encoding: "utf8" });
}

it("runs several chains at once, each paused until it is advanced", async () => {
  const kept = ownTemporaryFiles();
  const [one, other] = await Promise.all([start(), start({ fork: "deneb", genesisTime: 1_600_000_000 })]);
  expect([one.url, one.restUrl]).toEqual([undefined, undefined]);
  expect(await one.client.getChainTime()).toMatchObject({ slot: "0", speed: 0 });
  expect(await one.client.dev_advance({ slots: 3 })).toMatchObject({ slot: "3", head_slot: "3" });
  expect(await other.client.getChainTime()).toMatchObject({ slot: "0", chain_time: "1600000000.000" });
  expect(await other.client.get_v1_beacon_states_fork({ state_id: "head" })).toMatchObject({ epoch: "0" });
  expect(kept()).toEqual([]);
  await Promise.all([one.stop(), other.stop()]);
  await expect(one.client.getChainHead()).rejects.toThrow(
    "The chain is stopped. Start another one with startDevChain.",
  );
  await expect(one.eth.request({ method: "eth_chainId" })).rejects.toMatchObject({
    code: 4900,
    message: "The chain is stopped. Start another one with startDevChain.",
  });
});

it("snapshots, resets and dumps a chain in memory, with files for dumps only", async () => {
  const kept = ownTemporaryFiles();
  const chain = await start();
  await chain.advanceUntil("finalized");
  const snapshot = await chain.snapshot();
  const { head_block_root } = await chain.advance({ slots: 3 });
  const dump = (await chain.client.dev_dump()) as Hex;
  await snapshot.revert();
  expect((await chain.head()).head_slot).toBe("32");
  await chain.client.anvil_reset();
  expect((await chain.head()).head_slot).toBe("0");
  await chain.client.dev_load({ dump });
  expect(await chain.head()).toMatchObject({ head_slot: "35", head_block_root });
  expect((await chain.state(8)).slot).toBe("8");
  await chain.client.dev_dump({ file: "kept" });
  expect(kept().filter((name) => name.endsWith("kept"))).toHaveLength(1);
  await chain.stop();
  expect(kept()).toEqual([]);
});

if (isFullTier) {
  it("leaves no files when a process ends without stop()", () => {
    const directory = tempDirectory();
    const script = `import { startDevChain } from ${JSON.stringify(LIBRARY)};
    import { readdirSync } from "node:fs";
    const chain = await startDevChain(${JSON.stringify(FEW)});
    await chain.client.dev_dump({ file: "kept" });
    console.log(readdirSync(${JSON.stringify(directory)}).length);`;
    const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", script], {
      env: { ...process.env, TMPDIR: directory },
      encoding: "utf8",
    });
    expect([stdout, stderr]).toEqual(["1\n", ""]);
    expect(readdirSync(directory)).toEqual([]);
  });
}

it("runs at a speed, has history, and reopens a stored chain", async () => {
  const dataDir = tempDirectory();
  const first = await startDevChain({ ...FEW, dataDir, warmupEpochs: 1, speed: 100 });
  const told = Promise.withResolvers<ChainEvent<"block">>();
  await first.client.subscribe(["block"], told.resolve);
  const { topic, data } = await told.promise;
  expect(topic).toBe("block");
  expect(Number(data.slot)).toBeGreaterThan(8);
  await first.stop();
  expect(existsSync(dataDir)).toBe(true);
  const second = await start({ dataDir });
  expect(Number((await second.client.getChainHead()).head_slot)).toBeGreaterThanOrEqual(Number(data.slot));
});

it("creates the requested genesis, and reopens a stored chain with its parameters", async () => {
  const dataDir = tempDirectory();
  const address = `0x${"ab".repeat(20)}`;
  const wanted = {
    balances: ["0-3=64"],
    withdrawalCredentials: [`0-7=0x02:${address}`],
    config: { SHARD_COMMITTEE_PERIOD: 2 },
  };
  const first = await startDevChain({ ...FEW, ...wanted, dataDir });
  const [key] = (await first.client.dev_keys({ first: 7 })) as { withdrawal_credentials: string }[];
  expect(key?.withdrawal_credentials).toBe(`0x02${"00".repeat(11)}${"ab".repeat(20)}`);
  await first.stop();

  const second = await startDevChain({ dataDir });
  onTestFinished(() => second.stop());
  expect(await second.client.get_v1_config_spec()).toMatchObject({ SHARD_COMMITTEE_PERIOD: "2" });
  const balances = await second.client.get_v1_beacon_states_stateId_validator_balances({ state_id: "head" });
  expect(balances).toHaveLength(8);
  expect(balances[0]).toEqual({ index: "0", balance: "64000000000" });
  // @ts-expect-error a constant of another name.
  const misspelt: DevChainOptions["config"] = { SHARD_COMITTEE_PERIOD: 2 };
  await expect(startDevChain({ dataDir: tempDirectory(), config: misspelt })).rejects.toThrow("SHARD_COMMITTEE_PERIOD");
});

it("accepts the options that fanal dev has as flags only", async () => {
  const { client } = await start({ graffiti: "a test", graffitiCodes: false, trackFutures: true });
  await client.dev_advance();
  const block = await client.get_v1_beacon_blocks_blockId({ block_id: "head" });
  const graffiti = Buffer.from("a test").toString("hex").padEnd(64, "0");
  expect(block).toHaveProperty("message.body.graffiti", `0x${graffiti}`);
  expect(await client.debug_getChronosFutures()).not.toEqual([]);
});

it("lets other nodes join with its network directory", async () => {
  const dataDir = tempDirectory();
  const { client } = await start({ dataDir, p2p: true, p2pPort: 0, discovery: false, speed: 1 });
  // The subnets of the ENR change with the epochs, but not in the file.
  const addressOf = (enr: string) => {
    const { nodeId, kvs } = ENR.decodeTxt(enr);
    return { nodeId, ip: kvs.get("ip"), tcp: kvs.get("tcp") };
  };
  const bootstrapNodes = readFileSync(join(dataDir, "network", "bootstrap_nodes.txt"), "utf8").trim();
  expect(addressOf(bootstrapNodes)).toEqual(addressOf((await client.get_v1_node_identity()).enr));
  expect(addressOf(bootstrapNodes).tcp).toHaveLength(2);
});

it("reports events, errors and timeouts like a client of a server", async () => {
  const { client } = await start();
  const heard: ChainEvent[] = [];
  const subscription = await client.subscribe(["head", "block"], (event) => heard.push(event));
  await client.dev_advance({ slots: 2 });
  expect(heard.map(({ topic, data }) => [topic, (data as { slot: string }).slot])).toEqual([
    ["block", "1"],
    ["head", "1"],
    ["block", "2"],
    ["head", "2"],
  ]);
  await subscription.unsubscribe();
  await client.dev_advance();
  expect(heard).toHaveLength(4);
  expect(await subscription.ended).toBeUndefined();

  const wrong = client.subscribe(["heads" as "head"], () => {});
  await expect(wrong).rejects.toMatchObject({ name: "RpcError", code: -32602, kind: "invalid-params" });
  const [head, unknown] = await client.batch([["getChainHead"], ["get_v1_beacon_states_root", { state_id: 99 }]]);
  expect(head).toMatchObject({ head_slot: "3" });
  expect(unknown).toMatchObject({ name: "RpcError", code: -32001, kind: "not-found" });
  const stopping = new AbortController();
  const waiting = client.dev_advance({ until: "finalized" }, stopping);
  stopping.abort(new Error("Enough."));
  await expect(waiting).rejects.toThrow("Enough.");
});

it("serves the chain on request, also to other processes", async () => {
  const lines: string[] = [];
  const chain = await start({ rpc: 0, rest: 0, logLevel: "DEBUG", log: (line) => lines.push(line) });
  expect(await (await fetch(`${chain.restUrl}/eth/v1/node/version`)).json()).toHaveProperty("data.version");
  const attached = attachDevChain({ url: chain.url! });
  onTestFinished(() => attached.stop());
  expect(await attached.client.dev_advance({ slots: 2 })).toMatchObject({ head_slot: "2" });
  const client = createClient({ url: chain.url!.replace("http", "ws") });
  onTestFinished(() => client.close());
  const told = Promise.withResolvers<ChainEvent<"head">>();
  await client.subscribe(["head"], told.resolve);
  await chain.client.dev_advance();
  expect((await told.promise).data.slot).toBe("3");
  expect(lines.join("")).toContain("Dev chain is running");
});

it("shows how to attach to a chain", () => {
  expect(() => attachDevChain("http://127.0.0.1:9190" as never)).toThrow(
    'attachDevChain takes an object. Write attachDevChain({ url: "http://127.0.0.1:9190" }).',
  );
});

it("rejects the data directory of another chain in this process", async () => {
  const dataDir = tempDirectory();
  await start({ dataDir });
  await expect(startDevChain({ ...FEW, dataDir })).rejects.toMatchObject({
    name: "StartupError",
    kind: "data-dir-in-use",
    message: expect.stringContaining(`The data directory ${dataDir} is in use by this process`),
  });
});

it.each([undefined, "minimal"])("keeps the preset of the environment, %s, when it rejects another", async (preset) => {
  // The libraries are already loaded with the preset of the tests.
  await import("@lodestar/params");
  vi.stubEnv("LODESTAR_PRESET", preset);
  onTestFinished(() => void vi.unstubAllEnvs());
  await expect(startDevChain({ preset: "mainnet", validators: 64 })).rejects.toThrow("in another process");
  expect(process.env.LODESTAR_PRESET).toBe(preset);
});

it.each<[what: string, options: object, message: RegExp]>([
  [
    "another preset",
    { preset: "mainnet", validators: 64 },
    /uses the preset minimal\. .* preset mainnet in another process/,
  ],
  ["an option that another one says", { rpcPort: 9190 }, /Unknown option "rpcPort" of a dev chain\. Use "rpc"\./],
  ["an unknown option", { validator: 8 }, /Unknown option "validator" of a dev chain\. Did you mean "validators"\?/],
  [
    "an option of Anvil",
    { forkUrl: "https://rpc.example" },
    /^Unknown option "forkUrl" of a dev chain\. Anvil's forkUrl has no counterpart: a dev chain starts from its own genesis/,
  ],
  [
    "an option of Anvil with another name",
    { blockTime: 2 },
    /^Unknown option "blockTime" of a dev chain\. Anvil's blockTime is "slotSeconds" here, since each slot has a block\.$/,
  ],
  ["a fork by its other name", { fork: "pectra" }, /"pectra" of "fork" is not accepted: .* which is electra\.$/],
  [
    "a later fork by its other name",
    { fork: "deneb", forkAt: { prague: 3 } },
    /"forkAt" is not accepted: prague must be named as on the consensus layer, electra=3/,
  ],
  ["more validators than fit into memory", { validators: 1e9 }, /^validators: 1000000000 is too many: \d+ fit into/],
  ["a value out of bounds", { validators: 3 }, /^validators: 3 is too few.* at least 8/],
  ["a value of another kind", { slotSeconds: "long" }, /"long" of "slotSeconds" is not accepted/],
  ["forks out of order", { fork: "phase0", forkAt: { capella: 2 } }, /^forkAt: { capella: 2 } skips altair, bellatrix/],
  [
    "a history from before 1970",
    { slotSeconds: 100_000, warmupEpochs: 3000 },
    /^The genesis time would be before 1970: .* at most \d+/,
  ],
])("refuses %s in a sentence", async (_what, options, message) => {
  const kept = ownTemporaryFiles();
  const error = await startDevChain({ ...FEW, ...options }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(StartupError);
  expect(error).toMatchObject({ kind: "invalid-option", message: expect.stringMatching(message) });
  expect(kept()).toEqual([]);
});
