import { ForkName, SLOTS_PER_EPOCH } from "@lodestar/params";
import { signedBlindedBlockToFull } from "@lodestar/state-transition";
import { type BuilderBid, type bellatrix, type deneb, type SignedBeaconBlock, ssz } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { executionBlockOf } from "../../src/chain/fork-choice/types.ts";
import { DEFAULT_BUILDER_SETTINGS } from "../../src/chain/production/builder-settings.ts";
import { PayloadUnavailableError } from "../../src/execution/engine.ts";
import { serveApi } from "../support/api/served-api.ts";
import { ByHand } from "../support/chain/by-hand.ts";
import { openDevChain } from "../support/chain/dev-chain.ts";
import { BLOB_BYTES } from "../support/data/kzg/fake-kzg.ts";
import { isFullTier, variants } from "../support/suite/tier.ts";
import { ALWAYS_BUILDER, BLOCK, ChainWithBuilder, HEAD } from "./chain-with-builder.ts";
import { BUILDER_FEE_RECIPIENT, builderFault, MockBuilder } from "./mock-builder.ts";

const BLINDED = "get_v1_validator_blinded_blocks_slot";
const PUBLISH = "post_v2_beacon_blinded_blocks";
const UNAVAILABLE = -32002;
const NO_REQUESTS = ssz.electra.ExecutionRequests.defaultValue();

it("a builder's payload may have blobs, which are published with it", async ({ onTestFinished }) => {
  const withBuilder = await ChainWithBuilder.open("electra");
  onTestFinished(() => withBuilder.close());
  const { builder, chain } = withBuilder;
  const { kzg } = chain.data;
  await withBuilder.register();
  await withBuilder.nextSlot();
  const blob = new Uint8Array(BLOB_BYTES).fill(7);
  const commitment = await kzg.commitmentOf(blob);
  const blobs = { commitments: [commitment], proofs: [await kzg.blobProofOf(blob, commitment)], blobs: [blob] };
  builder.behaviour.blobs = blobs;
  const { json } = await withBuilder.signedBlinded();

  const wrong: [change: Partial<typeof blobs>, complaint: RegExp][] = [
    [{ commitments: [new Uint8Array(48)] }, /did not provide the payload .* other blobs than those in its bid/],
    [{ blobs: [new Uint8Array(BLOB_BYTES)] }, /Blob 0 or its proofs do not match the block's commitment/],
  ];
  for (const [change, complaint] of wrong) {
    builder.behaviour.changeBlobs = (given) => ({ ...given, ...change });
    expect((await withBuilder.caller.error(PUBLISH, [json])).message).toMatch(complaint);
  }
  expect(chain.head.slot).toBe(HEAD);
  builder.behaviour.changeBlobs = (given) => given;
  expect(await withBuilder.caller.call(PUBLISH, [json])).toBe(200);
  expect(chain.head.slot).toBe(HEAD + 1);
  expect(await withBuilder.caller.call("get_v1_beacon_blobs_blockId", ["head"])).toEqual([toHex(blob)]);
});

describe.each(variants({ fast: ["fulu"], full: ["bellatrix", "electra"] } as const))("on %s", (fork) => {
  it("a registered proposer gets the builder's payload if it is worth more", async ({ onTestFinished }) => {
    const withBuilder = await ChainWithBuilder.open(fork);
    onTestFinished(() => withBuilder.close());
    const { builder, chain, devChain } = withBuilder;
    const served = await serveApi(devChain.api);
    onTestFinished(() => served.close());
    const slot = await withBuilder.nextSlot();
    expect(await withBuilder.produce()).toEqual({ isBlinded: false, value: "0" });
    expect(builder.bidRequests).toEqual([]);
    await withBuilder.register();

    const [, reveal] = await withBuilder.params();
    const answer = await served.ask(`/eth/v3/validator/blocks/${slot}?randao_reveal=${reveal}`);
    expect(answer.headers.get("eth-execution-payload-blinded")).toBe("true");
    expect(answer.headers.get("eth-execution-payload-value")).toBe(String(builder.behaviour.value));
    expect(answer.headers.get("eth-consensus-version")).toBe(fork);
    const { parentHash, proposerPubkey } = builder.bidRequests.at(-1)!;
    expect(toHex(parentHash)).toBe(executionBlockOf(chain.head)?.blockHash ?? "");
    const { data } = JSON.parse(answer.text);
    expect(toHex(proposerPubkey)).toBe(toHex(devChain.keys.publicKey(Number(data.proposer_index))!));
    // The earlier version returns the same.
    expect(await withBuilder.caller.call(BLINDED, await withBuilder.params())).toEqual(data);

    const { signed, json } = withBuilder.sign(data);
    const published = JSON.parse((await served.call(PUBLISH, [json])).text);
    if (fork === "fulu") {
      // The builder publishes the block, which returns over the network.
      expect(published.result).toBe(202);
      expect(chain.head.slot).toBe(HEAD);
      const signedBlock = signedBlindedBlockToFull(
        ForkName.fulu,
        signed,
        builder.payloadOf(signed),
      ) as SignedBeaconBlock;
      await chain.importBlock(signedBlock);
    } else {
      expect(published.result).toBe(200);
    }
    expect(builder.blindedBlocks.map(({ signature }) => signature)).toEqual([signed.signature]);
    expect(chain.head.slot).toBe(slot);
    expect(await withBuilder.feeRecipientOfHead()).toEqual(BUILDER_FEE_RECIPIENT);
    expect(withBuilder.opened.complaints).toEqual([]);
  });
});

// The merge is in epoch 1. Its first block is finalized at the end of epoch 3.
if (isFullTier) {
  it.each([
    [SLOTS_PER_EPOCH + 2, false],
    [4 * SLOTS_PER_EPOCH, true],
  ])("a builder is asked only when the merge is final, after slot %i: %s", async (head, isAsked) => {
    const forks = [
      { fork: "altair", epoch: 0 },
      { fork: "bellatrix", epoch: 1 },
    ] as const;
    const withBuilder = await ChainWithBuilder.openAfter(forks, head);
    onTestFinished(() => withBuilder.close());
    const { builder, chain } = withBuilder;
    expect(chain.head).toMatchObject({ slot: head, execution: { status: "valid" } });
    await withBuilder.nextSlot();
    await withBuilder.register();
    expect(await withBuilder.produce({ boostFactor: ALWAYS_BUILDER })).toMatchObject({ isBlinded: isAsked });
    expect(builder.bidRequests).toHaveLength(isAsked ? 1 : 0);
  });
}

describe("a builder", () => {
  let withBuilder: ChainWithBuilder;
  let builder: MockBuilder;

  beforeAll(async () => {
    withBuilder = await ChainWithBuilder.open("deneb");
    builder = withBuilder.builder;
    await withBuilder.nextSlot();
    await withBuilder.register();
  });

  beforeEach(() => {
    builder.reset();
    withBuilder.opened.complaints.length = 0;
  });

  afterAll(async () => {
    await withBuilder?.close();
  });

  const complaints = () => withBuilder.opened.complaints.join("");

  it("is weighted with the boost factor of the request", async () => {
    expect(await withBuilder.produce()).toEqual({ isBlinded: true, value: String(builder.behaviour.value) });
    expect(await withBuilder.produce({ boostFactor: "0" })).toEqual({ isBlinded: false, value: "0" });
    builder.behaviour.value = 99n;
    expect(await withBuilder.produce()).toEqual({ isBlinded: false, value: "0" });
    expect(await withBuilder.produce({ boostFactor: ALWAYS_BUILDER })).toEqual({ isBlinded: true, value: "99" });
  });

  it("is overridden by the engine, regardless of its value", async () => {
    const { engine } = withBuilder.opened.node.source;
    const getPayload = engine.getPayload.bind(engine);
    engine.getPayload = async (fork, id) => ({ ...(await getPayload(fork, id)), shouldOverrideBuilder: true });
    try {
      expect(await withBuilder.produce({ boostFactor: ALWAYS_BUILDER })).toEqual({ isBlinded: false, value: "0" });
    } finally {
      // Restores the method of its class.
      Reflect.deleteProperty(engine, "getPayload");
    }
  });

  it("times out", async () => {
    let release = () => {};
    builder.behaviour.beforeBid = () => new Promise((resolve) => (release = resolve));
    const producing = withBuilder.produce();
    await builder.until(() => builder.bidRequests.length === 1);
    withBuilder.endTime();
    expect(await producing).toEqual({ isBlinded: false, value: "0" });
    expect(complaints()).toContain("did not answer within 1000 ms");
    release();
  });

  const other = new Uint8Array(32).fill(9);
  const wrongBids: [name: string, change: (bid: deneb.BuilderBid) => void, complaint: string][] = [
    ["on another parent", ({ header }) => (header.parentHash = other), "parent hash 0x09"],
    ["with another randao", ({ header }) => (header.prevRandao = other), "prev_randao 0x09"],
    ["of another time", ({ header }) => (header.timestamp += 1), "timestamp"],
    ["of another height", ({ header }) => (header.blockNumber += 1), "block number"],
    ["with another gas limit", ({ header }) => (header.gasLimit += 1), "gas limit 30000001, expected 30000000"],
    ["with other withdrawals", ({ header }) => (header.withdrawalsRoot = other), "withdrawals root 0x09"],
    ["worth nothing", (bid) => (bid.value = 0n), "pays nothing"],
    [
      "with too many blobs",
      (bid) => (bid.blobKzgCommitments = Array.from({ length: 10 }, () => new Uint8Array(48))),
      "at most 6",
    ],
    ["of a key that is none", (bid) => (bid.pubkey = new Uint8Array(48)), "not signed by builder 0x00"],
  ];

  it.each(wrongBids)("is not used for a bid %s", async (_, change, complaint) => {
    builder.behaviour.changeBid = change as (bid: BuilderBid) => void;
    expect(await withBuilder.produce({ boostFactor: ALWAYS_BUILDER })).toEqual({ isBlinded: false, value: "0" });
    expect(complaints()).toContain(complaint);
  });

  it("is not used for a bid with an invalid signature or of another fork", async () => {
    builder.behaviour.changeSigned = ({ message }) => (message.value *= 2n);
    expect(await withBuilder.produce()).toEqual({ isBlinded: false, value: "0" });
    expect(complaints()).toContain("not signed by builder");
    builder.reset();
    builder.behaviour.fork = ForkName.electra;
    builder.behaviour.changeSigned = (signed) => Object.assign(signed.message, { executionRequests: NO_REQUESTS });
    expect(await withBuilder.produce()).toEqual({ isBlinded: false, value: "0" });
    expect(complaints()).toContain("The bid is for electra");
  });

  it.each([
    ["without a fork", '{"data":{}}'],
    ["that is none", '{"version":"deneb","data":null}'],
    ["that is no JSON", "<html>"],
  ])("is not used for a bid %s, of which the log has a warning each time", async (_, bidBody) => {
    for (let slot = 0; slot < 2; slot++) {
      builder.behaviour.bidBody = bidBody;
      expect(await withBuilder.produce()).toEqual({ isBlinded: false, value: "0" });
    }
    const unused = expect.stringMatching(/Invalid builder bid.*The builder's response cannot be decoded/);
    expect(withBuilder.opened.complaints).toEqual([unused, unused]);
  });

  it("may fail, which is logged once", async () => {
    builder.behaviour.beforeBid = () => {
      throw builderFault(500, "The builder is at a loss.");
    };
    for (let attempt = 0; attempt < 2; attempt++) {
      expect(await withBuilder.produce()).toEqual({ isBlinded: false, value: "0" });
    }
    expect(withBuilder.opened.complaints).toEqual([expect.stringContaining("The builder is at a loss.")]);
  });

  it("is used if the local payload fails", async () => {
    const { engine } = withBuilder.opened.node.source;
    // The engine's previous payload for the same proposer would still be usable.
    const { chain, devChain } = withBuilder;
    chain.preparations.prepareOwn(devChain.keys.indices, new Uint8Array(20).fill(7));
    engine.forkchoiceUpdated = () => Promise.reject(new PayloadUnavailableError("The engine is away."));
    try {
      expect(await withBuilder.produce({ boostFactor: "0" })).toMatchObject({ isBlinded: true });
      builder.behaviour.value = 0n;
      expect(await withBuilder.caller.error(BLOCK, await withBuilder.params())).toMatchObject({
        code: UNAVAILABLE,
        message: "The engine is away.",
      });
    } finally {
      // Restores the method of its class.
      Reflect.deleteProperty(engine, "forkchoiceUpdated");
    }
  });

  it("is used if the engine hangs, after a short wait", async () => {
    const { engine } = withBuilder.opened.node.source;
    const { chain, devChain } = withBuilder;
    expect(await withBuilder.produce()).toMatchObject({ isBlinded: true });
    chain.preparations.prepareOwn(devChain.keys.indices, new Uint8Array(20).fill(8));
    const hanging = Promise.withResolvers<never>();
    engine.forkchoiceUpdated = () => hanging.promise;
    const { secondsPerSlot, speed } = devChain.clock;
    const limitMs = (secondsPerSlot * 1000) / speed / 12;
    try {
      const isWaited = withBuilder.untilWaitOf(limitMs);
      const producing = withBuilder.produce({ boostFactor: "0" });
      await isWaited;
      withBuilder.endTime();
      expect(await producing).toMatchObject({ isBlinded: true });
      expect(complaints()).toContain(`no payload for slot 4 within ${Math.round(limitMs)} ms after the builder's bid`);
    } finally {
      hanging.reject(new PayloadUnavailableError("The engine is away."));
      // Restores the method of its class.
      Reflect.deleteProperty(engine, "forkchoiceUpdated");
    }
  });

  it("may withhold its payload, or return another", async () => {
    const { json } = await withBuilder.signedBlinded();
    builder.behaviour.beforeReveal = () => {
      throw builderFault(400, "No payload for you.");
    };
    expect(await withBuilder.caller.error(PUBLISH, [json])).toMatchObject({
      code: UNAVAILABLE,
      message: expect.stringMatching(/did not provide the payload .* No payload for you/),
    });
    builder.behaviour = {
      ...builder.behaviour,
      beforeReveal() {},
      changePayload: (payload) => ({ ...payload, gasUsed: 1 }),
    };
    expect(await withBuilder.caller.error(PUBLISH, [json])).toMatchObject({
      code: UNAVAILABLE,
      message: expect.stringContaining("instead of the one in its bid"),
    });
    expect(withBuilder.chain.head.slot).toBe(HEAD);
  });

  it("receives no unsigned block", async () => {
    const { signed, json } = await withBuilder.signedBlinded();
    const unsigned = { ...(json as object), signature: toHex(new ByHand(withBuilder.devChain).signer.sign(0, other)) };
    expect(await withBuilder.caller.error(PUBLISH, [unsigned])).toMatchObject({
      message: expect.stringContaining(`not signed by validator ${signed.message.proposerIndex}`),
    });
    expect(builder.blindedBlocks).toEqual([]);
  });

  it("is disabled while too many slots are missed, and receives registrations every epoch", async () => {
    const { devChain, opened } = withBuilder;
    await withBuilder.nextSlot();
    await withBuilder.nextSlot();
    expect(await withBuilder.produce()).toMatchObject({ isBlinded: true });
    await withBuilder.nextSlot();
    expect(devChain.clock.currentSlot).toBe(HEAD + 4);
    expect(opened.complaints).toHaveLength(1);
    expect(complaints()).toContain("builder disabled");
    builder.reset();
    expect(await withBuilder.produce({ boostFactor: ALWAYS_BUILDER })).toMatchObject({ isBlinded: false });
    expect(builder.bidRequests).toEqual([]);

    // A block closes the breaker.
    await new ByHand(devChain).propose(devChain.clock.currentSlot, withBuilder.chain.head.root);
    await withBuilder.nextSlot();
    expect(devChain.clock.currentSlot).toBe(SLOTS_PER_EPOCH);
    await builder.until(() => builder.registrations.length === devChain.keys.count);
    expect(await withBuilder.produce()).toMatchObject({ isBlinded: true });
    expect(opened.complaints).toHaveLength(1);
  });
});

it("validators of a dev chain register with its builder and sign its blocks", async ({ onTestFinished }) => {
  const builder = await MockBuilder.start();
  onTestFinished(() => builder.close());
  const { devChain, complaints } = await openDevChain({
    forks: [{ fork: "electra", epoch: 0 }],
    speed: 4,
    builder: { ...DEFAULT_BUILDER_SETTINGS, url: builder.url },
  });
  const { chain } = devChain;
  builder.chain = chain;
  // No validator is registered before the chain runs.
  await devChain.clock.advanceTo(2);
  expect(builder.registrations).toEqual([]);
  const { promise: signed, resolve } = Promise.withResolvers<number>();
  chain.events.on("head", async ({ root }) => {
    const block = (await chain.blocks.byRoot(root))!.signed as bellatrix.SignedBeaconBlock;
    const { feeRecipient } = block.message.body.executionPayload;
    if (Buffer.compare(feeRecipient, BUILDER_FEE_RECIPIENT) === 0) resolve(block.message.slot);
  });
  await devChain.run();
  expect(await signed).toBeGreaterThan(2);
  expect(complaints).toEqual([]);
});
