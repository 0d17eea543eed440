import { genesisData } from "@lodestar/config/networks";
import { afterEach, expect, it } from "vitest";
import { GENESIS_ROOT, json, ScriptedUpstream } from "../../../test/support/gateway/upstream/scripted-upstream.ts";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { FakeTimers } from "../../../test/support/time/fake-timers.ts";
import { UpstreamClient } from "../upstream/client/upstream-client.ts";
import { type ChainSpec, fetchChainSpecFrom, slotAt } from "./chain-spec.ts";
import { KNOWN_NETWORKS, type NetworkPin } from "./network-pin.ts";
import { parseNetworkConfig } from "./spec-constants.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const timers = new FakeTimers();
const CHAIN_SPEC: ChainSpec = {
  presetBase: "mainnet",
  genesisValidatorsRoot: GENESIS_ROOT,
  genesisTime: 1600000000,
  secondsPerSlot: 12,
  slotsPerEpoch: 32,
  forks: [{ name: "phase0", epoch: 0 }],
};

async function open(name = "a") {
  const upstream = await new ScriptedUpstream(name).start();
  const client = new UpstreamClient(upstream.options, { timers });
  closing.push(
    () => upstream.stop(),
    () => client.close(),
  );
  const withSpec = (spec: unknown) => {
    upstream.handler = (_request, response) => json(response, { data: spec });
  };
  return { upstream, client, withSpec };
}

it("parses the chain spec of different clients", async () => {
  const { client, withSpec } = await open();
  const { signal } = new AbortController();
  const read = (spec: unknown) => {
    withSpec(spec);
    return fetchChainSpecFrom([client], { signal, logger: createRecordingLogger(), timers });
  };
  expect(await read({ PRESET_BASE: "mainnet", SECONDS_PER_SLOT: "12", SLOTS_PER_EPOCH: "32" })).toMatchObject(
    CHAIN_SPEC,
  );
  expect(await read({ PRESET_BASE: "mainnet" })).toMatchObject(CHAIN_SPEC);
  expect(await read({ SLOTS_PER_EPOCH: 32, SECONDS_PER_SLOT: 12 })).toMatchObject(CHAIN_SPEC);
  expect(await read({ PRESET_BASE: "minimal", SLOT_DURATION_MS: "1500", SECONDS_PER_SLOT: "2" })).toMatchObject({
    ...CHAIN_SPEC,
    presetBase: "minimal",
    secondsPerSlot: 1.5,
    slotsPerEpoch: 8,
  });
  expect(await read({ PRESET_BASE: "gnosis" })).toMatchObject({ secondsPerSlot: 5, slotsPerEpoch: 16 });
  const forkEpochs = { FULU_FORK_EPOCH: "18446744073709551615", BELLATRIX_FORK_EPOCH: "7", ALTAIR_FORK_EPOCH: "0" };
  const { forks } = await read({ PRESET_BASE: "mainnet", ...forkEpochs });
  expect(forks).toEqual([
    { name: "phase0", epoch: 0 },
    { name: "altair", epoch: 0 },
    { name: "bellatrix", epoch: 7 },
  ]);
});

it("uses any upstream that answers, and retries with a warning", async () => {
  const [first, second] = [await open(), await open()];
  await first.upstream.stop();
  second.withSpec({ PRESET_BASE: "unheard-of" });
  const logger = createRecordingLogger();
  const ending = new AbortController();
  const clients = [first.client, second.client];
  const chainSpec = fetchChainSpecFrom(clients, { signal: ending.signal, logger, timers });
  while (logger.records.length === 0) await timers.advance(1);
  expect(logger.records[0]).toMatchObject({
    level: "warn",
    fields: {
      reasons: [
        "a refused the connection.",
        'a: /eth/v1/config/spec has the unknown PRESET_BASE "unheard-of". It must be mainnet, minimal or gnosis.',
      ],
    },
  });
  second.withSpec({});
  while (logger.records.length === 1) await timers.advance(10);
  expect(logger.records[1]!.fields!.reasons).toContain("a: /eth/v1/config/spec has no PRESET_BASE.");
  second.withSpec({ PRESET_BASE: "mainnet" });
  for (let step = 0; step < 100; step++) await timers.advance(10);
  expect(await chainSpec).toMatchObject(CHAIN_SPEC);

  await second.upstream.stop();
  const ended = expect(fetchChainSpecFrom(clients, { signal: ending.signal, logger, timers })).rejects.toThrow("ended");
  ending.abort(new Error("ended"));
  await ended;
});

it("computes the current slot", () => {
  expect(slotAt(CHAIN_SPEC, (1600000000 + 12 * 5 + 11) * 1000)).toBe(5);
  expect(slotAt(CHAIN_SPEC, 0)).toBe(0);
});

/** Opens upstreams named a, b, … with the genesis times. */
async function openNetworks(...genesisTimes: number[]) {
  const opened = await Promise.all(genesisTimes.map((_, index) => open("abcd"[index])));
  for (const [index, { upstream, withSpec }] of opened.entries()) {
    upstream.genesisTime = genesisTimes[index]!;
    withSpec({ PRESET_BASE: "mainnet" });
  }
  const logger = createRecordingLogger();
  const ending = new AbortController();
  const clients = opened.map(({ client }) => client);
  const fetch = (network?: NetworkPin) =>
    fetchChainSpecFrom(clients, { network, signal: ending.signal, logger, timers });
  return { opened, fetch, logger };
}

const OTHER_ROOT = `0x${"77".repeat(32)}`;
const TIME = CHAIN_SPEC.genesisTime;

it("uses the network of most upstreams", async () => {
  const { fetch } = await openNetworks(TIME + 1, TIME, TIME);
  expect(await fetch()).toMatchObject(CHAIN_SPEC);
});

it("throws in a tie, naming the upstreams, their networks and the flag", async () => {
  const { opened, fetch } = await openNetworks(TIME, KNOWN_NETWORKS.hoodi!.genesisTime);
  opened[1]!.upstream.genesisRoot = KNOWN_NETWORKS.hoodi!.genesisValidatorsRoot;
  await expect(fetch()).rejects.toThrow(
    "The upstreams are on different networks, without a majority: " +
      `a is on ${GENESIS_ROOT} with genesis time ${TIME}, b is on hoodi. Remove the wrong ones, or pin the network ` +
      "with --network NAME|DIR|GENESIS_ROOT.",
  );
  await opened[1]!.upstream.stop();
  expect(await fetch()).toMatchObject(CHAIN_SPEC);
});

it("throws if two networks have two upstreams each", async () => {
  const { fetch } = await openNetworks(TIME, TIME, TIME + 1, TIME + 1);
  await expect(fetch()).rejects.toThrow("without a majority");
});

it("uses the pinned network against the majority", async () => {
  const { opened, fetch } = await openNetworks(TIME, TIME, TIME);
  opened[2]!.upstream.genesisRoot = OTHER_ROOT;
  const pinned = { ...CHAIN_SPEC, genesisValidatorsRoot: OTHER_ROOT };
  expect(await fetch({ name: "other", genesisValidatorsRoot: OTHER_ROOT })).toMatchObject(pinned);
  expect(await fetch({ name: "other", genesisValidatorsRoot: OTHER_ROOT, genesisTime: TIME })).toMatchObject(pinned);
});

it("uses the constants of most upstreams, and names a deviating one", async () => {
  const { opened, fetch, logger } = await openNetworks(TIME, TIME, TIME);
  opened[0]!.withSpec({ PRESET_BASE: "mainnet", SLOTS_PER_EPOCH: "1", ALTAIR_FORK_EPOCH: "5" });
  for (const { withSpec } of opened.slice(1)) withSpec({ PRESET_BASE: "mainnet", ALTAIR_FORK_EPOCH: "0" });
  expect(await fetch()).toMatchObject({ ...CHAIN_SPEC, forks: [...CHAIN_SPEC.forks, { name: "altair", epoch: 0 }] });
  expect(logger.records.map(({ fields }) => fields)).toEqual([
    { upstream: "a", constant: "SLOTS_PER_EPOCH", value: 1, expected: 32 },
    { upstream: "a", constant: "ALTAIR_FORK_EPOCH", value: 5, expected: 0 },
  ]);
});

it("orders forks of one epoch as the specification, whichever upstream knows them", async () => {
  const { opened, fetch } = await openNetworks(TIME, TIME);
  opened[0]!.withSpec({ PRESET_BASE: "mainnet", BELLATRIX_FORK_EPOCH: "0" });
  opened[1]!.withSpec({ PRESET_BASE: "mainnet", ALTAIR_FORK_EPOCH: "0" });
  expect((await fetch()).forks.map(({ name }) => name)).toEqual(["phase0", "altair", "bellatrix"]);
});

it.each(["", "1.5", " ", "0x10", null, []])("skips a fork whose epoch is %j", async (epoch) => {
  const { opened, fetch } = await openNetworks(TIME);
  opened[0]!.withSpec({ PRESET_BASE: "mainnet", GLOAS_FORK_EPOCH: epoch });
  expect((await fetch()).forks).toMatchObject(CHAIN_SPEC.forks);
});

it("marks forks that are ahead, and reads the genesis fork version", async () => {
  const { opened, fetch } = await openNetworks(TIME);
  const epoch = Math.floor(slotAt(CHAIN_SPEC, timers.unixNow()) / 32);
  opened[0]!.withSpec({
    PRESET_BASE: "mainnet",
    GENESIS_FORK_VERSION: "0x0000000A",
    DENEB_FORK_EPOCH: String(epoch),
    FULU_FORK_EPOCH: String(epoch + 1),
  });
  expect(await fetch()).toMatchObject({
    ...CHAIN_SPEC,
    reportedAtEpoch: epoch,
    genesisForkVersion: "0x0000000a",
    forks: [...CHAIN_SPEC.forks, { name: "deneb", epoch }, { name: "fulu", epoch: epoch + 1, isUpcoming: true }],
  });
});

it("uses the constants of a pinned directory against all upstreams, and names these", async () => {
  const { opened, fetch, logger } = await openNetworks(TIME, TIME);
  for (const { withSpec } of opened)
    withSpec({ PRESET_BASE: "mainnet", SECONDS_PER_SLOT: "12", ALTAIR_FORK_EPOCH: "5", DENEB_FORK_EPOCH: "7" });
  const far = 10_000_000;
  const constants = parseNetworkConfig({
    PRESET_BASE: "minimal",
    SECONDS_PER_SLOT: "3",
    GENESIS_FORK_VERSION: "0x10000001",
    ALTAIR_FORK_EPOCH: "1",
    FULU_FORK_EPOCH: String(far),
    GLOAS_FORK_EPOCH: "18446744073709551615",
  });
  expect(
    await fetch({ name: "devnet", genesisValidatorsRoot: GENESIS_ROOT, genesisTime: TIME, constants }),
  ).toMatchObject({
    ...CHAIN_SPEC,
    presetBase: "minimal",
    secondsPerSlot: 3,
    slotsPerEpoch: 8,
    genesisForkVersion: "0x10000001",
    forks: [
      { name: "phase0", epoch: 0 },
      { name: "altair", epoch: 1 },
      { name: "deneb", epoch: 7 },
      { name: "fulu", epoch: far },
    ],
  });
  expect(new Set(logger.records.map(({ fields }) => fields!.constant))).toEqual(
    new Set(["SLOTS_PER_EPOCH", "SECONDS_PER_SLOT", "PRESET_BASE", "ALTAIR_FORK_EPOCH"]),
  );
});

it("throws if constants differ without a majority, unless the network is built in", async () => {
  const { opened, fetch } = await openNetworks(TIME, TIME);
  opened[1]!.withSpec({ PRESET_BASE: "mainnet", SLOTS_PER_EPOCH: "1" });
  await expect(fetch()).rejects.toThrow("SLOTS_PER_EPOCH, without a majority: a has 32, b has 1. Remove the wrong");
  const { genesisTime, genesisValidatorsRoot } = KNOWN_NETWORKS.hoodi!;
  for (const { upstream } of opened) Object.assign(upstream, { genesisTime, genesisRoot: genesisValidatorsRoot });
  expect((await fetch()).slotsPerEpoch).toBe(32);
});

it("waits with a warning for an upstream on the pinned network", async () => {
  const { opened, fetch, logger } = await openNetworks(TIME, TIME + 1);
  const chainSpec = fetch({ name: "other", genesisValidatorsRoot: OTHER_ROOT });
  while (logger.records.length === 0) await timers.advance(1);
  expect(logger.records[0]).toMatchObject({
    level: "warn",
    message: "No upstream is on the pinned network, retrying",
    fields: {
      network: "other",
      reasons: [
        `a is on ${GENESIS_ROOT} with genesis time ${TIME}.`,
        `b is on ${GENESIS_ROOT} with genesis time ${TIME + 1}.`,
      ],
    },
  });
  opened[0]!.upstream.genesisRoot = OTHER_ROOT;
  for (let step = 0; step < 100; step++) await timers.advance(10);
  expect((await chainSpec).genesisValidatorsRoot).toBe(OTHER_ROOT);
});

it("knows the genesis of every built-in network with a fixed one", () => {
  const { ephemery: _, ...fixed } = genesisData;
  expect(KNOWN_NETWORKS).toEqual(fixed);
});
