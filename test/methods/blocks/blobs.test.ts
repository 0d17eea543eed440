import type { Type } from "@chainsafe/ssz";
import { DOMAIN_BEACON_PROPOSER, ForkName, isForkPostFulu, NUMBER_OF_COLUMNS, SLOTS_PER_EPOCH } from "@lodestar/params";
import {
  type BlindedBeaconBlock,
  type BlobsBundle,
  type BlockContents,
  type RootHex,
  type SignedBlockContents,
  ssz,
  sszTypesFor,
} from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { createApi } from "../../../src/api/api.ts";
import { ValidatedBlock } from "../../../src/chain/validation/block.ts";
import { verifyBlobInclusion } from "../../../src/data/blob-sidecars.ts";
import { ALL_COLUMNS, verifyColumnInclusion } from "../../../src/data/column-sidecars.ts";
import type { DataSidecar } from "../../../src/data/sidecar.ts";
import type { DevExecutionEngine } from "../../../src/execution/dev-engine.ts";
import { versionedHashesOf } from "../../../src/execution/engine.ts";
import { fakeNetwork } from "../../support/api/fake-chain.ts";
import { RecordingBroadcast } from "../../support/api/recording-broadcast.ts";
import { type ServedApi, serveApi } from "../../support/api/served-api.ts";
import { ByHand } from "../../support/chain/by-hand.ts";
import { blobOf } from "../../support/chain/data/blobs.ts";
import { type OpenedDevChain, startQuietDevChain } from "../../support/chain/dev-chain.ts";
import { FakeKzg } from "../../support/data/kzg/fake-kzg.ts";
import { Client } from "../../support/server/jsonrpc/websocket/client.ts";
import { variants } from "../../support/suite/tier.ts";

const BLOBS = "get_v1_beacon_blobs_blockId";
const SIDECARS = "get_v1_beacon_blob_sidecars_blockId";
const COLUMNS = "get_v1_debug_beacon_data_column_sidecars_blockId";
const PRODUCE = "get_v3_validator_blocks_slot";
const PUBLISH = "post_v2_beacon_blocks";
const REJECTED = -32003;
const NOT_FOUND = -32001;
const SSZ = { Accept: "application/octet-stream" };
/** Mainnet's limit after the second entry of its blob schedule. */
const MOST_BLOBS = 21;
const PROOFS_PER_BLOB = { [ForkName.electra]: 1, [ForkName.fulu]: NUMBER_OF_COLUMNS };

type Fork = ForkName.electra | ForkName.fulu;

const kzg = new FakeKzg();
let opened: OpenedDevChain;
let byHand: ByHand;
let served: ServedApi;
let engine: DevExecutionEngine;
/** Blobs of the engine's last payload. */
let bundle: BlobsBundle;
const broadcast = new RecordingBroadcast();

beforeAll(async () => {
  const forks = [
    { fork: ForkName.electra, epoch: 0 },
    { fork: ForkName.fulu, epoch: 1 },
  ] as const;
  const configOverrides = { BLOB_SCHEDULE: `1:${MOST_BLOBS}` };
  opened = await startQuietDevChain(1, { validators: 8, forks, chainTuning: { kzg }, configOverrides });
  const { chain } = opened.devChain;
  byHand = new ByHand(opened.devChain);
  engine = opened.node.source.engine as DevExecutionEngine;
  attachBlobs(2);
  served = await serveApi(createApi({ chain, network: fakeNetwork(chain), broadcast, setLogSpec: () => {} }));
}, 30_000);
afterAll(async () => {
  await served?.close();
  await opened?.close();
});
beforeEach(() => {
  broadcast.take();
});

/** Distinct blobs for every slot. */
async function makeBundle(count: number, fork: ForkName, slot: number): Promise<BlobsBundle> {
  const blobs = Array.from({ length: count }, (_, index) => blobOf(`slot ${slot}, blob ${index}`));
  const commitments = await Promise.all(blobs.map((blob) => kzg.commitmentOf(blob)));
  const proofs = blobs.map(async (blob, index) =>
    isForkPostFulu(fork)
      ? (await kzg.cellsAndProofsOf(blob)).proofs
      : [await kzg.blobProofOf(blob, commitments[index]!)],
  );
  return { blobs, commitments, proofs: (await Promise.all(proofs)).flat() };
}

// biome-ignore lint/suspicious/noExplicitAny: the tests check the shape of results
async function call(method: string, params: unknown[]): Promise<any> {
  return JSON.parse((await served.call(method, params)).text);
}

async function sszOf(path: string): Promise<Uint8Array> {
  const response = await fetch(served.restUrl + path, { headers: SSZ });
  expect(response.status).toBe(200);
  return response.bytes();
}

/** Sets the number of blobs of all later payloads. */
function attachBlobs(count: number): void {
  engine.takeBlobsFrom(async ({ fork, slot }) => {
    bundle = await makeBundle(count, fork, slot);
    return bundle;
  });
}

/** Advances to the next slot of the fork. */
async function nextSlot(fork: Fork): Promise<number> {
  const { clock } = opened.devChain;
  const first = fork === ForkName.fulu ? SLOTS_PER_EPOCH : 2;
  const slot = Math.max(first, clock.currentSlot + 1);
  await clock.advanceTo(slot);
  return slot;
}

async function productionParams(slot: number): Promise<unknown[]> {
  const { chain } = opened.devChain;
  const { epochCtx } = await chain.states.afterBlock(chain.head.root, slot);
  return [slot, toHex(byHand.signer.randaoReveal(epochCtx.getBeaconProposer(slot), slot))];
}

interface Published {
  slot: number;
  root: RootHex;
  contents: SignedBlockContents;
  json: { signed_block: object; kzg_proofs: string[]; blobs: string[] };
}

/** Signed block contents for the next slot of the fork. */
async function nextContents(fork: Fork): Promise<Published> {
  const slot = await nextSlot(fork);
  const produced = await call(PRODUCE, await productionParams(slot));
  expect(produced.meta).toMatchObject({ version: fork, execution_payload_blinded: false });
  const { block, ...rest } = (sszTypesFor(fork).BlockContents as Type<BlockContents>).fromJson(produced.result);
  const { signed, root } = byHand.sign(block);
  const contents = { signedBlock: signed, ...rest } as SignedBlockContents;
  const type = sszTypesFor(fork).SignedBlockContents as Type<SignedBlockContents>;
  return { slot, root, contents, json: type.toJson(contents) as Published["json"] };
}

function publishSsz(fork: Fork, contents: SignedBlockContents) {
  const type = sszTypesFor(fork).SignedBlockContents as Type<SignedBlockContents>;
  const headers = { "Content-Type": "application/octet-stream", "Eth-Consensus-Version": fork };
  const body = type.serialize(contents) as Uint8Array<ArrayBuffer>;
  return served.ask("/eth/v2/beacon/blocks", { method: "POST", headers, body });
}

const head = () => opened.devChain.chain.head.root;

describe.each(variants({ fast: [ForkName.fulu], full: [ForkName.electra] } as const))("blocks of %s", (fork) => {
  const count = fork === ForkName.fulu ? NUMBER_OF_COLUMNS : 2;
  const topic = fork === ForkName.fulu ? "data_column_sidecar" : "blob_sidecar";

  it("are produced and published with their blobs, and both can be read back", async () => {
    const { slot, root, contents, json } = await nextContents(fork);
    expect(json.blobs).toEqual(bundle.blobs.map((blob) => toHex(blob)));
    expect(json.kzg_proofs).toHaveLength(2 * PROOFS_PER_BLOB[fork]);

    const client = await Client.connect(served.jsonRpcUrl);
    await client.subscribe([topic]);
    expect(await call(PUBLISH, [json])).toMatchObject({ result: 200 });
    expect(head()).toBe(root);
    const [block, sidecars] = broadcast.take();
    expect(block).toMatchObject({ kind: "block", item: contents.signedBlock });
    expect(sidecars).toMatchObject({ kind: "sidecars", item: { length: count } });
    const heard = await client.notifications.take(count);
    expect(heard.at(-1)).toMatchObject({
      topic,
      data: { block_root: root, slot: String(slot), index: String(count - 1) },
    });

    const { data: blobs } = JSON.parse((await served.ask(`/eth/v1/beacon/blobs/${slot}`)).text);
    expect(blobs).toEqual(json.blobs);
    expect((await call(BLOBS, [root])).result).toEqual(json.blobs);
    expect(await sszOf("/eth/v1/beacon/blobs/head")).toEqual(ssz.deneb.Blobs.serialize(bundle.blobs));
    const hashes = versionedHashesOf(bundle.commitments).map((hash) => toHex(hash));
    expect((await call(BLOBS, ["head", [hashes[1]!.toUpperCase().replace("0X", "0x")]])).result).toEqual([
      json.blobs[1],
    ]);
    const unknown = `0x01${"00".repeat(31)}`;
    const both = await served.ask(`/eth/v1/beacon/blobs/head?versioned_hashes=${unknown},${hashes[0]}`);
    expect(JSON.parse(both.text).data).toEqual([json.blobs[0]]);
    expect((await call(BLOBS, ["head", [unknown]])).result).toEqual([]);
  });

  it("have blob sidecars with valid proofs", async () => {
    const { result, meta } = await call(SIDECARS, ["head"]);
    expect(meta).toMatchObject({ version: fork, finalized: false });
    const bytes = await sszOf("/eth/v1/beacon/blob_sidecars/head");
    const sidecars = ssz.deneb.BlobSidecars.deserialize(bytes);
    expect(ssz.deneb.BlobSidecars.toJson(sidecars)).toEqual(result);
    expect(sidecars.map(({ blob }) => blob)).toEqual(bundle.blobs);
    expect(sidecars.every(verifyBlobInclusion)).toBe(true);
    const commitments = sidecars.map(({ kzgCommitment }) => kzgCommitment);
    const proofs = sidecars.map(({ kzgProof }) => kzgProof);
    expect(await kzg.verifyBlobs({ blobs: bundle.blobs, commitments, proofs })).toBe(true);
    const second = await served.ask("/eth/v1/beacon/blob_sidecars/head?indices=7,1");
    expect(JSON.parse(second.text).data).toEqual([result[1]]);
    expect((await call(SIDECARS, ["head", [7]])).result).toEqual([]);
  });

  it("have the columns that the node keeps", async () => {
    const { result } = await call(COLUMNS, ["head"]);
    const path = "/eth/v1/debug/beacon/data_column_sidecars/head";
    const bytes = await sszOf(path);
    const sidecars = ssz.fulu.DataColumnSidecars.deserialize(bytes);
    expect(ssz.fulu.DataColumnSidecars.toJson(sidecars)).toEqual(result);
    expect(sidecars.map(({ index }) => index)).toEqual(fork === ForkName.fulu ? ALL_COLUMNS : []);
    expect(sidecars.every(verifyColumnInclusion)).toBe(true);
    const some = await served.ask(`${path}?indices=127,3`);
    expect(JSON.parse(some.text).data).toEqual(fork === ForkName.fulu ? [result[3], result[127]] : []);
  });

  it("are rejected with wrong blobs or proofs, and accepted with the right ones", async () => {
    const { root, json, contents } = await nextContents(fork);
    const { validation, events } = opened.devChain.chain;
    const told: RootHex[] = [];
    onTestFinished(events.on("blockGossip", (block) => told.push(block.root)));
    const [first, second] = json.blobs as [string, string];
    const noField = `0x${"ff".repeat((second.length - 2) / 2)}`;
    const [, ...otherProofs] = json.kzg_proofs;
    const noProof = toHex(bundle.commitments[0]!);
    const wrong: [wrong: Partial<Published["json"]>, why: string][] = [
      [{ blobs: [first, first] }, "Blob 1 or its proofs do not match the block's commitment."],
      [{ blobs: [first, noField] }, "Blob 1 or its proofs do not match the block's commitment."],
      [{ kzg_proofs: [noProof, ...otherProofs] }, "Blob 0 or its proofs do not match the block's commitment."],
      [{ blobs: [first] }, "The block commits to 2 blobs"],
      [{ kzg_proofs: otherProofs }, `${json.kzg_proofs.length - 1} proofs were given`],
    ];
    for (const [change, why] of wrong) {
      const { error } = await call(PUBLISH, [{ ...json, ...change }]);
      expect(error).toMatchObject({ code: REJECTED, message: expect.stringContaining(why) });
    }
    expect(broadcast.take()).toEqual([]);
    expect(opened.devChain.chain.data.pool.count(root)).toBe(0);
    expect(told).toEqual([]);
    // The rejection marks neither the block nor its proposer as seen.
    await expect(ValidatedBlock.validate(validation, contents.signedBlock)).resolves.toMatchObject({ root });
    const other = byHand.sign({ ...contents.signedBlock.message, stateRoot: new Uint8Array(32) });
    await expect(ValidatedBlock.validate(validation, other.signed)).resolves.toMatchObject({ root: other.root });

    expect(await call(PUBLISH, [json, "consensus"])).toMatchObject({ result: 200 });
    expect(told).toEqual([root]);
    expect(broadcast.take().map(({ kind }) => kind)).toEqual(["block", "sidecars"]);
    expect(head()).toBe(root);
    // A known block is not verified again.
    expect(await call(PUBLISH, [json])).toMatchObject({ result: 200 });
    expect(broadcast.take()).toEqual([]);
  });

  it("are accepted as SSZ, and not verified if the execution engine built the same", async () => {
    const verifying = vi.spyOn(kzg, fork === ForkName.fulu ? "verifyCells" : "verifyBlobs");
    onTestFinished(() => verifying.mockRestore());
    const { root, contents } = await nextContents(fork);
    expect(await publishSsz(fork, contents)).toMatchObject({ status: 200 });
    expect(head()).toBe(root);
    expect(verifying).not.toHaveBeenCalled();
    expect((await call(BLOBS, [root])).result).toEqual(bundle.blobs.map((blob) => toHex(blob)));
  });

  it("are completed with their blobs when published blinded", async () => {
    const slot = await nextSlot(fork);
    const { result } = await call("get_v1_validator_blinded_blocks_slot", await productionParams(slot));
    const type = sszTypesFor(fork).BlindedBeaconBlock as Type<BlindedBeaconBlock>;
    const message = type.fromJson(result);
    const signingRoot = byHand.signer.signingRoot(type, message, DOMAIN_BEACON_PROPOSER, slot);
    const signature = toHex(byHand.signer.sign(message.proposerIndex, signingRoot));
    const posted = [{ message: result, signature }];
    expect(await call("post_v2_beacon_blinded_blocks", posted)).toMatchObject({ result: 200 });
    expect(broadcast.take()).toMatchObject([{ kind: "block" }, { kind: "sidecars", item: { length: count } }]);
    expect((await call(BLOBS, [slot])).result).toEqual(bundle.blobs.map((blob) => toHex(blob)));
    expect(await call("post_v2_beacon_blinded_blocks", posted)).toMatchObject({ result: 200 });
  });

  it("whose blobs were pruned are distinguished from those without blobs", async () => {
    const { root, slot } = opened.devChain.chain.head;
    const withoutBlobs = await call(BLOBS, ["genesis"]);
    expect(withoutBlobs.result).toEqual([]);
    await forget(slot, root, fork === ForkName.fulu ? ALL_COLUMNS : [0, 1]);
    for (const method of [BLOBS, SIDECARS, ...(fork === ForkName.fulu ? [COLUMNS] : [])]) {
      expect((await call(method, [root])).error).toMatchObject({ code: NOT_FOUND });
    }
    const window = vi.spyOn(opened.devChain.chain.data, "isWithinWindow").mockReturnValue(false);
    onTestFinished(() => window.mockRestore());
    const { status, text } = await served.ask(`/eth/v1/beacon/blob_sidecars/${root}`);
    expect(status).toBe(404);
    expect(text).toMatch(/were pruned: they are kept for \d+ epochs/);
  });
});

async function forget(slot: number, root: RootHex, indices: readonly number[]): Promise<void> {
  const batch = opened.db.batch();
  batch.data.delete({ slot, root }, indices);
  await batch.write();
}

it("blobs of fulu are recovered from half of the columns, but not from less", async () => {
  const { slot, root, json } = await nextContents(ForkName.fulu);
  await call(PUBLISH, [json]);
  const sent = broadcast.take().find(({ kind }) => kind === "sidecars")?.item as DataSidecar[];
  expect(sent.map(({ index }) => index)).toEqual(ALL_COLUMNS);
  const [half, others] = [ALL_COLUMNS.slice(0, NUMBER_OF_COLUMNS / 2), ALL_COLUMNS.slice(NUMBER_OF_COLUMNS / 2)];
  await forget(slot, root, half);
  expect((await call(BLOBS, [root])).result).toEqual(json.blobs);
  expect((await call(SIDECARS, [root, [1]])).result).toMatchObject([{ index: "1", blob: json.blobs[1] }]);
  expect((await call(COLUMNS, [root])).result.map(({ index }: { index: string }) => Number(index))).toEqual(others);
  expect((await call(COLUMNS, [root, [0]])).result).toEqual([]);

  await forget(slot, root, others.slice(0, 1));
  expect((await call(BLOBS, [root])).error).toMatchObject({
    code: NOT_FOUND,
    message: expect.stringMatching(/63 .*columns .*are available.* 64/),
  });
});

it.each(variants({ fast: [2], full: [MOST_BLOBS] }))(
  "a block with %i blobs is produced, and accepted from two clients at once, as JSON and SSZ",
  async (count) => {
    attachBlobs(count);
    const { root, contents, json } = await nextContents(ForkName.fulu);
    expect(json.blobs).toHaveLength(count);
    const answers = await Promise.all([call(PUBLISH, [json]), publishSsz(ForkName.fulu, contents)]);
    expect(answers).toMatchObject([{ result: 200 }, { status: 200 }]);
    expect(head()).toBe(root);
    const sent = broadcast.take().flatMap(({ kind, item }) => (kind === "sidecars" ? (item as DataSidecar[]) : []));
    expect(new Set(sent.map(({ index }) => index)).size).toBe(NUMBER_OF_COLUMNS);
    expect((await call(BLOBS, [root])).result).toEqual(json.blobs);
  },
);

it("a payload with too many blobs is not proposed", async () => {
  const slot = await nextSlot(ForkName.fulu);
  const limit = opened.devChain.config.getMaxBlobsPerBlock(Math.floor(slot / SLOTS_PER_EPOCH));
  const many = new Array<Uint8Array>(limit + 1).fill(new Uint8Array(48));
  engine.takeBlobsFrom(async () => ({ commitments: many, proofs: many, blobs: many }));
  expect((await call(PRODUCE, await productionParams(slot))).error.message).toMatch(
    `it has ${limit + 1} blobs, but its slot allows at most ${limit}`,
  );
});
