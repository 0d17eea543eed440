import { DOMAIN_SYNC_COMMITTEE, ForkName, type ForkPostAltair, SLOTS_PER_EPOCH } from "@lodestar/params";
import { LightclientSpec, validateLightClientBootstrap } from "@lodestar/state-transition/light-client";
import {
  type LightClientBootstrap,
  type LightClientFinalityUpdate,
  type LightClientUpdate,
  type RootHex,
  ssz,
  sszTypesFor,
} from "@lodestar/types";
import { fromHex, toRootHex } from "@lodestar/utils";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { DevChain } from "../../../src/dev/dev-chain.ts";
import type { ScheduledFork } from "../../../src/dev/forks.ts";
import { Caller } from "../../support/api/caller.ts";
import { serveApi } from "../../support/api/served-api.ts";
import { ByHand } from "../../support/chain/by-hand.ts";
import {
  advance,
  type OpenedDevChain,
  openDevChain,
  openQuietDevChain,
  QUIET,
  startDevChain,
  startQuietDevChain,
} from "../../support/chain/dev-chain.ts";
import { tempDirectory } from "../../support/directories/temp-directory.ts";

const BOOTSTRAP = "get_v1_beacon_light_client_bootstrap_blockRoot";
const UPDATES = "get_v1_beacon_light_client_updates";
const FINALITY = "get_v1_beacon_light_client_finality_update";
const OPTIMISTIC = "get_v1_beacon_light_client_optimistic_update";
const INVALID = -32602;
const NOT_FOUND = -32001;

const PERIOD_SLOTS = 64;
/** At this slot, the first blocks of the second period are finalized. */
const HEAD = PERIOD_SLOTS + 3 * SLOTS_PER_EPOCH + 2;

const FORKS: ScheduledFork[] = [
  { fork: "altair", epoch: 1 },
  { fork: "bellatrix", epoch: 2 },
  { fork: "capella", epoch: 3 },
  { fork: "deneb", epoch: 5 },
  { fork: "electra", epoch: 7 },
  { fork: "fulu", epoch: 9 },
];

const typesOf = (version: string) => sszTypesFor(version as ForkPostAltair);

const headerRoot = ({ beacon }: { beacon: ReturnType<typeof ssz.phase0.BeaconBlockHeader.defaultValue> }) =>
  toRootHex(ssz.phase0.BeaconBlockHeader.hashTreeRoot(beacon));

async function blockRoot(caller: Caller, slot: number): Promise<RootHex> {
  return (await caller.call("get_v1_beacon_blocks_blockId_root", [slot])).root;
}

async function genesisRoot(caller: Caller): Promise<Uint8Array> {
  return fromHex((await caller.call("get_v1_beacon_genesis")).genesis_validators_root);
}

describe("on a chain that has passed all forks and a sync committee period", () => {
  let opened: OpenedDevChain;
  let devChain: DevChain;
  let caller: Caller;
  beforeAll(async () => {
    // Another instance produced the history: its data must survive the restart.
    opened = await startQuietDevChain(HEAD, { forks: FORKS });
    devChain = opened.devChain;
    caller = new Caller(devChain.api);
  });
  afterAll(() => opened.close());

  it("a client syncs from a trusted block to the head", async () => {
    const { config, chain } = devChain;
    const head = chain.head.slot;
    const trusted = await blockRoot(caller, SLOTS_PER_EPOCH + 3);
    const bootstrap = ssz.altair.LightClientBootstrap.fromJson(await caller.call(BOOTSTRAP, [trusted]));
    const client = new LightclientSpec(config, {}, bootstrap);

    const updates: { version: string; data: unknown }[] = await caller.call(UPDATES, [0, 200]);
    expect(updates.length).toBe(2);
    for (const { version, data } of updates) {
      client.onUpdate(head, typesOf(version).LightClientUpdate.fromJson(data) as LightClientUpdate);
    }
    const { LightClientFinalityUpdate, LightClientOptimisticUpdate } = typesOf(ForkName.fulu);
    client.onFinalityUpdate(head, LightClientFinalityUpdate.fromJson(await caller.call(FINALITY)));
    client.onOptimisticUpdate(head, LightClientOptimisticUpdate.fromJson(await caller.call(OPTIMISTIC)));
    expect(await caller.meta(FINALITY)).toEqual({ version: ForkName.fulu });
    expect(await caller.meta(OPTIMISTIC)).toEqual({ version: ForkName.fulu });

    const parentState = await chain.states.afterBlock(chain.head.parentRoot);
    expect(headerRoot(client.store.optimisticHeader)).toBe(chain.head.parentRoot);
    expect(headerRoot(client.store.finalizedHeader)).toBe(toRootHex(parentState.finalizedCheckpoint.root));
    expect(client.store.finalizedHeader.beacon.slot).toBeGreaterThanOrEqual(PERIOD_SLOTS);

    expect(await caller.call(UPDATES, [1, 1])).toEqual([updates[1]]);
    expect(await caller.call(UPDATES, [2, 1])).toEqual([]);
  });

  it("every SSZ update is preceded by the digest of its fork on this chain", async () => {
    const { restUrl, close } = await serveApi(devChain.api);
    onTestFinished(close);
    const path = "/eth/v1/beacon/light_client/updates?start_period=0&count=2";
    const answer = await fetch(restUrl + path, { headers: { Accept: "application/octet-stream" } });
    const bytes = Buffer.from(await answer.arrayBuffer());
    const expected: { version: string; data: unknown }[] = await caller.call(UPDATES, [0, 2]);
    expect(answer.headers.get("eth-consensus-version")).toBe(expected.map(({ version }) => version).join(","));
    let at = 0;
    for (const { version, data } of expected) {
      const type = typesOf(version).LightClientUpdate;
      const end = at + 8 + Number(bytes.readBigUInt64LE(at));
      const update = type.deserialize(bytes.subarray(at + 12, end)) as LightClientUpdate;
      expect(type.toJson(update)).toEqual(data);
      const fork = await caller.call("get_v1_beacon_states_fork", [update.attestedHeader.beacon.slot]);
      const forkData = {
        currentVersion: fromHex(fork.current_version),
        genesisValidatorsRoot: await genesisRoot(caller),
      };
      const digest = ssz.phase0.ForkData.hashTreeRoot(forkData).subarray(0, 4);
      // From fulu on the blob parameters are mixed into it.
      if (version !== ForkName.fulu) expect(bytes.subarray(at + 8, at + 12)).toEqual(Buffer.from(digest));
      at = end;
    }
    expect(at).toBe(bytes.length);
  });

  it.each(FORKS)("a client can start from a block of $fork", async ({ fork, epoch }) => {
    const { config } = devChain;
    const root = await blockRoot(caller, epoch * SLOTS_PER_EPOCH);
    expect(await caller.meta(BOOTSTRAP, [root])).toEqual({ version: fork });
    const bootstrap = typesOf(fork).LightClientBootstrap.fromJson(
      await caller.call(BOOTSTRAP, [root]),
    ) as LightClientBootstrap;
    validateLightClientBootstrap(config, fromHex(root), bootstrap);
    const other = fromHex(await blockRoot(caller, epoch * SLOTS_PER_EPOCH + 1));
    expect(() => validateLightClientBootstrap(config, other, bootstrap)).toThrow();
  });

  it("no client can start before altair", async () => {
    expect(await caller.error(BOOTSTRAP, [await blockRoot(caller, 3)])).toMatchObject({ code: INVALID });
  });

  it("no warnings were logged", () => expect(opened.complaints).toEqual([]));
});

it("every signed block is announced, after the first finality with the finalized header", async () => {
  const { devChain, complaints } = await openDevChain({ forks: [{ fork: "altair", epoch: 0 }] });
  const { chain } = devChain;
  const attested: number[] = [];
  const finalized: LightClientFinalityUpdate[] = [];
  chain.events.on("lightClientOptimisticUpdate", (update) => attested.push(update.attestedHeader.beacon.slot));
  chain.events.on("lightClientFinalityUpdate", (update) => finalized.push(update));
  await advance(devChain, 5 * SLOTS_PER_EPOCH + 1);
  expect(attested).toEqual(attested.map((_, position) => position + 1));
  expect(attested.length).toBeGreaterThanOrEqual(4 * SLOTS_PER_EPOCH);
  expect(finalized.map((update) => update.attestedHeader.beacon.slot)).toEqual(attested.slice(-finalized.length));
  const finalSlots = new Set(finalized.map((update) => update.finalizedHeader.beacon.slot));
  expect(finalSlots).toEqual(new Set([2 * SLOTS_PER_EPOCH, 3 * SLOTS_PER_EPOCH]));
  expect(await devChain.chain.lightClient.finalityUpdate()).toEqual(finalized.at(-1));
  expect(complaints).toEqual([]);
});

it("updates of an orphaned block are not served", async () => {
  const historySlots = 2;
  const { devChain } = await openQuietDevChain(historySlots, { forks: [{ fork: "altair", epoch: 0 }] });
  const { chain, clock } = devChain;
  const caller = new Caller(devChain.api);
  const byHand = new ByHand(devChain);
  const parent = chain.head.root;
  const before = await caller.call(OPTIMISTIC);

  await clock.advanceTo(historySlots + 1);
  await signHead(devChain, caller, byHand, historySlots + 1);
  await clock.advanceTo(historySlots + 2);
  const abandoned = await byHand.propose(historySlots + 2, parent);
  expect(chain.head.root).toBe(abandoned.root);
  expect(await caller.call(OPTIMISTIC)).toMatchObject({ signature_slot: String(historySlots + 2) });
  expect(await caller.call(OPTIMISTIC)).not.toEqual(before);

  await clock.advanceTo(historySlots + 3);
  const { root } = await byHand.propose(historySlots + 3, parent);
  await byHand.attest(historySlots + 3, root);
  await clock.advanceTo(historySlots + 4);
  await chain.refreshHead();
  expect(chain.head.root).toBe(root);
  expect(await caller.error(OPTIMISTIC)).toMatchObject({ code: NOT_FOUND });
  expect(await caller.error(BOOTSTRAP, [abandoned.root])).toMatchObject({ code: NOT_FOUND });
});

it("the best update of a period is that of the canonical chain, even if another branch had a better one, also after a restart", async () => {
  const directory = tempDirectory();
  const options = { ...QUIET, forks: [{ fork: "altair" as const, epoch: 0 }] };
  const opened = await startDevChain(options, directory);
  const { devChain } = opened;
  const { chain, clock } = devChain;
  const caller = new Caller(devChain.api);
  const byHand = new ByHand(devChain);
  const signatureSlots = async (asked = caller) =>
    (await asked.call(UPDATES, [0, 1])).map(({ data }: { data: { signature_slot: string } }) => +data.signature_slot);
  const propose = async (slot: number) => {
    await clock.advanceTo(slot);
    return byHand.propose(slot, chain.head.root);
  };
  await propose(1);
  await signHead(devChain, caller, byHand, 1, devChain.keys.count / 2);
  await propose(2);
  expect(await signatureSlots()).toEqual([2]);

  // More blocks than the states regenerated after a restart.
  for (let slot = 3; slot <= 36; slot++) await propose(slot);
  const parent = chain.head.root;
  await signHead(devChain, caller, byHand, 36);
  const abandoned = await propose(37);
  expect(await signatureSlots()).toEqual([37]);
  await clock.advanceTo(38);
  const { root } = await byHand.propose(38, parent);
  await byHand.attest(38, root);
  await clock.advanceTo(39);
  await chain.refreshHead();
  expect(chain.head.root).toBe(root);
  expect(await signatureSlots()).toEqual([2]);
  await opened.close();

  const again = await startDevChain(options, directory);
  onTestFinished(() => again.close());
  expect(again.devChain.chain.head.root).toBe(root);
  expect(again.devChain.chain.forkChoice.has(abandoned.root)).toBe(true);
  expect(await signatureSlots(new Caller(again.devChain.api))).toEqual([2]);
  expect(again.complaints).toEqual([]);
});

it("nothing is served before the first signature", async () => {
  const { devChain } = await openDevChain({ forks: [{ fork: "altair", epoch: 0 }], ...QUIET });
  const caller = new Caller(devChain.api);
  expect(await caller.error(OPTIMISTIC)).toMatchObject({ code: NOT_FOUND });
  expect(await caller.error(FINALITY)).toMatchObject({ code: NOT_FOUND });
  expect(await caller.call(UPDATES, [0, 1])).toEqual([]);
  // A client may start from genesis.
  const root = devChain.chain.head.root;
  const bootstrap = ssz.altair.LightClientBootstrap.fromJson(await caller.call(BOOTSTRAP, [root]));
  validateLightClientBootstrap(devChain.config, fromHex(root), bootstrap);
});

/** Signs the head with some validators, by default all. Each is in the sync committee. */
async function signHead(
  devChain: DevChain,
  caller: Caller,
  { signer }: ByHand,
  slot: number,
  count = devChain.keys.count,
): Promise<void> {
  const beaconBlockRoot = fromHex(devChain.chain.head.root);
  const signingRoot = signer.signingRoot(ssz.Root, beaconBlockRoot, DOMAIN_SYNC_COMMITTEE, slot);
  const messages = Array.from({ length: count }, (_, validatorIndex) =>
    ssz.altair.SyncCommitteeMessage.toJson({
      slot,
      beaconBlockRoot,
      validatorIndex,
      signature: signer.sign(validatorIndex, signingRoot),
    }),
  );
  await caller.call("post_v1_beacon_pool_sync_committees", [messages]);
}
