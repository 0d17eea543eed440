import { cpSync } from "node:fs";
import type { bellatrix } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { expect, it, onTestFinished, vi } from "vitest";
import { produceBlock } from "../../src/api/methods/validator/block-production.ts";
import { type PayloadRequest, PayloadUnavailableError } from "../../src/execution/engine.ts";
import { makeHistory, startDevChain } from "../support/chain/dev-chain.ts";
import { openStoredChain, storedChain } from "../support/chain/stored-chain.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { BuildingEngine } from "../support/execution/building-engine.ts";

const HEAD = 3;
const VALIDATORS = 16;
const RECIPIENT = new Uint8Array(20).fill(0xfe);
/** The compressed point at infinity. */
const NO_REVEAL = Uint8Array.from({ length: 96 }, (_, i) => (i === 0 ? 0xc0 : 0));

/** A node without validators, with a slow engine, and the next block. */
async function openChain() {
  const options = { validators: VALIDATORS, forks: [{ fork: "electra", epoch: 0 } as const] };
  const directory = tempDirectory();
  await makeHistory(HEAD, options, directory);
  const elsewhere = tempDirectory();
  cpSync(directory, elsewhere, { recursive: true });
  const { devChain, close } = await startDevChain(options, elsewhere);
  await devChain.clock.advanceTo(HEAD + 1);
  const nextBlock = (await devChain.chain.blocks.byRoot(devChain.chain.head.root))!;
  await close();
  const engine = new BuildingEngine();
  const opened = await openStoredChain(storedChain(directory, devChain), { slot: HEAD, engine });
  onTestFinished(() => opened.clock.stop());
  opened.chain.start();
  const produce = async (slot: number, feeRecipient?: Uint8Array) => {
    const request = { slot, randaoReveal: NO_REVEAL, skipRandaoVerification: true, feeRecipient };
    const { block } = await produceBlock(opened.chain, request);
    return (block.body as bellatrix.BeaconBlockBody).executionPayload;
  };
  const prepareAll = () => {
    for (let index = 0; index < VALIDATORS; index++) opened.chain.preparations.prepare(index, RECIPIENT, 0);
  };
  return { ...opened, engine, nextBlock, produce, prepareAll };
}

const slotAndParent = ({ request }: { request: PayloadRequest }) => ({
  slot: request.slot,
  parent: toRootHex(request.parentBeaconBlockRoot),
});

it("a payload is prepared before the slot of a known proposer, again for a late head, and fetched by its id", async () => {
  const { chain, clock, engine, nextBlock, produce, prepareAll, complaints, close } = await openChain();
  const oldHead = chain.head.root;
  // The proposer of the next block is not prepared.
  const proposer = chain.headState.epochCtx.getBeaconProposer(HEAD + 2);
  chain.preparations.prepare((proposer + 1) % VALIDATORS, RECIPIENT, 0);
  await clock.advanceTo(HEAD + 1);
  expect(engine.begun).toEqual([]);

  prepareAll();
  const slot = HEAD + 3;
  await clock.advanceTo(slot - 1);
  expect(engine.begun.map(slotAndParent)).toEqual([{ slot, parent: oldHead }]);
  await chain.importBlock(nextBlock.signed);
  await vi.waitFor(() => expect(engine.begun).toHaveLength(2));
  expect(engine.begun.map(slotAndParent)[1]).toEqual({ slot, parent: nextBlock.root });

  const payload = await produce(slot);
  expect(payload.feeRecipient).toEqual(RECIPIENT);
  expect(payload.timestamp).toBe(clock.slotStartSeconds(slot));
  expect(engine.begun).toHaveLength(2);
  expect(engine.taken).toEqual([engine.begun[1]!.id]);
  expect(complaints).toEqual([]);

  // The prepared payload does not match another fee recipient.
  const other = new Uint8Array(20).fill(0xaa);
  expect((await produce(slot, other)).feeRecipient).toEqual(other);
  expect(engine.taken).toEqual(engine.begun.slice(1).map(({ id }) => id));

  engine.payloads.push(() => Promise.reject(new PayloadUnavailableError("There is no such payload.")));
  expect(await produce(slot, other)).toMatchObject({ feeRecipient: other });
  expect(engine.begun).toHaveLength(4);
  engine.updates.push(async () => ({ verdict: { status: "optimistic" }, payloadId: null }));
  await expect(produce(slot, new Uint8Array(20))).rejects.toThrow(/builds no payload for slot 6: it is syncing/);

  await close();
  await clock.advanceTo(slot);
  expect(engine.begun).toHaveLength(5);
});

it("attributes are published even if the engine is offline or has not verified the head", async () => {
  const { chain, clock, engine, nextBlock, prepareAll, complaints } = await openChain();
  const told: number[] = [];
  chain.events.on("payloadAttributes", ({ data }) => told.push(data.proposalSlot));
  prepareAll();
  engine.state = "offline";
  await clock.advanceTo(HEAD + 1);
  expect([told, engine.begun]).toEqual([[HEAD + 2], []]);

  engine.state = "synced";
  await clock.advanceTo(HEAD + 2);
  expect(told).toEqual([HEAD + 2, HEAD + 3]);
  expect(engine.begun.map(({ request }) => request.slot)).toEqual([HEAD + 3]);

  engine.headVerdict = { status: "optimistic" };
  vi.spyOn(engine, "notifyNewPayload").mockResolvedValue({ status: "optimistic" });
  await chain.importBlock(nextBlock.signed);
  expect(chain.status.isOptimistic).toBe(true);
  await clock.advanceTo(HEAD + 3);
  expect(told).toEqual([HEAD + 2, HEAD + 3, HEAD + 3, HEAD + 4]);
  expect(engine.begun).toHaveLength(1);

  // A late verdict or a reconnected engine triggers the preparation at once.
  engine.headVerdict = { status: "valid" };
  await chain.pendingVerdicts.retry();
  await vi.waitFor(() => expect(engine.begun).toHaveLength(2));
  expect(slotAndParent(engine.begun[1]!)).toEqual({ slot: HEAD + 4, parent: nextBlock.root });
  engine.enter("offline");
  await clock.advanceTo(HEAD + 4);
  expect(engine.begun).toHaveLength(2);
  engine.enter("synced");
  await vi.waitFor(() => expect(engine.begun).toHaveLength(3));
  expect(told).toEqual([HEAD + 2, HEAD + 3, HEAD + 3, HEAD + 4, HEAD + 5]);
  expect(complaints).toEqual([]);
});
