import { afterEach, expect, it } from "vitest";
import { FakeTimers } from "../../test/support/time/fake-timers.ts";
import { createRecordingLogger } from "../log/recording-logger.test-support.ts";
import { type ChainSpec, fetchChainSpecFrom, slotAt } from "./chain-spec.ts";
import { UpstreamClient } from "./upstream/client/upstream-client.ts";
import { GENESIS_ROOT, json, ScriptedUpstream } from "./upstream/scripted-upstream.test-support.ts";

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

async function open() {
  const upstream = await new ScriptedUpstream("a").start();
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
    return fetchChainSpecFrom([client], signal, createRecordingLogger(), timers);
  };
  expect(await read({ PRESET_BASE: "mainnet", SECONDS_PER_SLOT: "12", SLOTS_PER_EPOCH: "32" })).toEqual(CHAIN_SPEC);
  expect(await read({ PRESET_BASE: "mainnet" })).toEqual(CHAIN_SPEC);
  expect(await read({ SLOTS_PER_EPOCH: 32, SECONDS_PER_SLOT: 12 })).toEqual(CHAIN_SPEC);
  expect(await read({ PRESET_BASE: "minimal", SLOT_DURATION_MS: "1500", SECONDS_PER_SLOT: "2" })).toEqual({
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
  const chainSpec = fetchChainSpecFrom(clients, ending.signal, logger, timers);
  while (logger.records.length === 0) await timers.advance(1);
  expect(logger.records[0]).toMatchObject({
    level: "warn",
    fields: {
      reasons: [
        "a refused the connection.",
        'Unknown PRESET_BASE "unheard-of". It must be mainnet, minimal or gnosis.',
      ],
    },
  });
  second.withSpec({ PRESET_BASE: "mainnet" });
  for (let step = 0; step < 100; step++) await timers.advance(10);
  expect(await chainSpec).toEqual(CHAIN_SPEC);

  await second.upstream.stop();
  const ended = expect(fetchChainSpecFrom(clients, ending.signal, logger, timers)).rejects.toThrow("ended");
  ending.abort(new Error("ended"));
  await ended;
});

it("computes the current slot", () => {
  expect(slotAt(CHAIN_SPEC, (1600000000 + 12 * 5 + 11) * 1000)).toBe(5);
  expect(slotAt(CHAIN_SPEC, 0)).toBe(0);
});

it("uses the chain of the majority", async () => {
  const opened = [await open(), await open(), await open()];
  opened[0]!.upstream.genesisTime += 1;
  for (const { withSpec } of opened) withSpec({ PRESET_BASE: "mainnet" });
  const { signal } = new AbortController();
  const clients = opened.map(({ client }) => client);
  expect(await fetchChainSpecFrom(clients, signal, createRecordingLogger(), timers)).toEqual(CHAIN_SPEC);
});
