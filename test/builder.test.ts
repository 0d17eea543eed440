import type { Type } from "@chainsafe/ssz";
import { DOMAIN_BEACON_PROPOSER, ForkName, SLOTS_PER_EPOCH } from "@lodestar/params";
import { signedBlindedBlockToFull } from "@lodestar/state-transition";
import {
  type BlindedBeaconBlock,
  type BuilderBid,
  type bellatrix,
  type deneb,
  type SignedBeaconBlock,
  type SignedBlindedBeaconBlock,
  ssz,
} from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test } from "vitest";
import { validateGossipBlock } from "../src/chain/validation/block.ts";
import { BLOB_BYTES, FakeKzg } from "../src/data/fake-kzg.test-support.ts";
import type { DevFork } from "../src/dev/forks.ts";
import { DEV_GAS_LIMIT } from "../src/execution/dev-payload.ts";
import { PayloadUnavailableError } from "../src/execution/engine.ts";
import { DEFAULT_BUILDER_OPTIONS } from "../src/node/builder-options.ts";
import { ByHand } from "./support/by-hand.ts";
import { Caller } from "./support/caller.ts";
import { type OpenedDevChain, openDevChain, startQuietDevChain } from "./support/dev-chain.ts";
import { BUILDER_FEE_RECIPIENT, builderFault, MockBuilder, signedRegistration } from "./support/mock-builder.ts";
import { serveApi } from "./support/served-api.ts";

const BLOCK = "get_v3_validator_blocks_slot";
const BLINDED = "get_v1_validator_blinded_blocks_slot";
const REGISTER = "post_v1_validator_register_validator";
const PUBLISH = "post_v2_beacon_blinded_blocks";
const UNAVAILABLE = -32002;
const REJECTED = -32003;
const HEAD = 3;
const NO_REQUESTS = ssz.electra.ExecutionRequests.defaultValue();
const ALWAYS_BUILDER = String(2n ** 64n - 1n);

/** A chain on which a test acts for all validators, with a builder for which they can register. */
class ChainWithBuilder {
  readonly builder: MockBuilder;
  readonly opened: OpenedDevChain;
  readonly caller: Caller;
  readonly #byHand: ByHand;
  /** Ends the time in which the bids that are waited for have to come. */
  endTime: () => void = () => {};

  static async open(fork: DevFork): Promise<ChainWithBuilder> {
    const builder = await MockBuilder.start();
    let chain: ChainWithBuilder | undefined;
    const timers = {
      unixNow: () => 0,
      sleep: (_ms: number, signal: AbortSignal) =>
        new Promise<void>((resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
          if (chain) chain.endTime = resolve;
        }),
    };
    const opened = await startQuietDevChain(HEAD, {
      forks: [{ fork, epoch: 0 }],
      kzg: new FakeKzg(),
      builder: { ...DEFAULT_BUILDER_OPTIONS, url: builder.url, timers },
    });
    chain = new ChainWithBuilder(builder, opened);
    return chain;
  }

  private constructor(builder: MockBuilder, opened: OpenedDevChain) {
    this.builder = builder;
    this.opened = opened;
    builder.chain = opened.devChain.chain;
    this.caller = new Caller(opened.devChain.api);
    this.#byHand = new ByHand(opened.devChain);
  }

  get devChain() {
    return this.opened.devChain;
  }

  get chain() {
    return this.devChain.chain;
  }

  /** Has all validators register, and waits until the builder knows them. */
  async register(gasLimit = DEV_GAS_LIMIT): Promise<void> {
    const { keys } = this.devChain;
    const signed = keys.indices.map((index) => signedRegistration(this.chain, keys.secretKey(index)!, gasLimit));
    const type = ssz.bellatrix.SignedValidatorRegistrationV1;
    const before = this.builder.registrations.length;
    expect(await this.caller.call(REGISTER, [signed.map((registration) => type.toJson(registration))])).toBe(true);
    await this.builder.until(() => this.builder.registrations.length === before + keys.count);
  }

  async nextSlot(): Promise<number> {
    const slot = this.devChain.clock.currentSlot + 1;
    await this.devChain.clock.advanceTo(slot);
    return slot;
  }

  /** The parameters of a call for a block of the current slot. */
  async params(...more: unknown[]): Promise<unknown[]> {
    const slot = this.devChain.clock.currentSlot;
    const { epochCtx } = await this.chain.states.afterBlock(this.chain.head.root, slot);
    return [slot, toHex(this.#byHand.signer.randaoReveal(epochCtx.getBeaconProposer(slot), slot)), ...more];
  }

  /** What a call for a block of the current slot is answered with. */
  async produce({ boostFactor }: { boostFactor?: string } = {}) {
    const params = await this.params("", false, ...(boostFactor === undefined ? [] : [boostFactor]));
    const meta = await this.caller.meta(BLOCK, params);
    return { isBlinded: meta?.execution_payload_blinded, value: meta?.execution_payload_value };
  }

  sign(blinded: unknown): { signed: SignedBlindedBeaconBlock; json: unknown } {
    const slot = this.devChain.clock.currentSlot;
    const types = this.devChain.config.getPostBellatrixForkTypes(slot);
    const type = types.BlindedBeaconBlock as Type<BlindedBeaconBlock>;
    const message = type.fromJson(blinded);
    const { signer } = this.#byHand;
    const signingRoot = signer.signingRoot(type, message, DOMAIN_BEACON_PROPOSER, slot);
    const signed = { message, signature: signer.sign(message.proposerIndex, signingRoot) } as SignedBlindedBeaconBlock;
    const signedType = types.SignedBlindedBeaconBlock as Type<SignedBlindedBeaconBlock>;
    return { signed, json: signedType.toJson(signed) };
  }

  /** The blinded block of the current slot, signed by its proposer. */
  async signedBlinded() {
    return this.sign(await this.caller.call(BLOCK, await this.params("", false, ALWAYS_BUILDER)));
  }

  async feeRecipientOfHead(): Promise<Uint8Array> {
    const { signed } = (await this.chain.blocks.byRoot(this.chain.head.root))!;
    return (signed as bellatrix.SignedBeaconBlock).message.body.executionPayload.feeRecipient;
  }

  async close(): Promise<void> {
    await this.opened.close();
    await this.builder.close();
  }
}

test("a builder's payload may have blobs, which are published with it", async ({ onTestFinished }) => {
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
    [{ commitments: [new Uint8Array(48)] }, /withholds the payload .* other blobs than those that it bid for/],
    [{ blobs: [new Uint8Array(BLOB_BYTES)] }, /Blob 0 and its proofs are not what the block commits to/],
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

describe.each(["bellatrix", "electra", "fulu"] as const)("on %s", (fork) => {
  test("a registered proposer gets the builder's payload where it is worth more", async ({ onTestFinished }) => {
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
    const { execution } = chain.head;
    expect(toHex(parentHash)).toBe(execution.status === "pre-merge" ? "" : execution.blockHash);
    const { data } = JSON.parse(answer.text);
    expect(toHex(proposerPubkey)).toBe(toHex(devChain.keys.publicKey(Number(data.proposer_index))!));
    // The earlier version gives the same.
    expect(await withBuilder.caller.call(BLINDED, await withBuilder.params())).toEqual(data);

    const { signed, json } = withBuilder.sign(data);
    const published = JSON.parse((await served.call(PUBLISH, [json])).text);
    if (fork === "fulu") {
      // The builder publishes the block, which comes back over the network.
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

describe.each(["electra", "fulu"] as const)("a builder of %s", (fork) => {
  let withBuilder: ChainWithBuilder;
  beforeEach(async () => {
    withBuilder = await ChainWithBuilder.open(fork);
    await withBuilder.nextSlot();
    await withBuilder.register();
  });
  afterEach(() => withBuilder?.close());

  const produceBlinded = async () =>
    withBuilder.caller.call(BLOCK, await withBuilder.params("", false, ALWAYS_BUILDER));
  const rejected = (message: RegExp) => ({ code: REJECTED, message: expect.stringMatching(message) });

  it("gets no block that breaks the rules that were asked for", async () => {
    const { builder, caller, chain } = withBuilder;
    const block = await produceBlinded();
    const other = new Uint8Array(32).fill(9);
    const otherProposer = (Number(block.proposer_index) + 1) % withBuilder.devChain.keys.count;
    const { execution_payload_header: header } = block.body;
    const wrong: [changes: object, level: string | null, complaint: RegExp][] = [
      [{ slot: String(HEAD + 4) }, null, /slot 7, which has not begun/],
      [{ parent_root: toHex(other) }, null, /parent 0x09.* is not known/],
      [{ proposer_index: String(otherProposer) }, null, /it is the turn of/],
      [
        { body: { ...block.body, execution_payload_header: { ...header, timestamp: "1" } } },
        "gossip",
        /payload has the timestamp 1, but slot 4 begins at/,
      ],
      [{ state_root: toHex(other) }, "consensus", /claims state root 0x09/],
      [{ state_root: toHex(other) }, "consensus_and_equivocation", /claims state root 0x09/],
      [{ body: { ...block.body, randao_reveal: `0xc0${"00".repeat(95)}` } }, "consensus", /signature .* is not valid/],
    ];
    for (const [changes, level, complaint] of wrong) {
      const { json } = withBuilder.sign({ ...block, ...changes });
      expect(await caller.error(PUBLISH, [json, level])).toMatchObject(rejected(complaint));
    }
    expect(builder.blindedBlocks).toEqual([]);
    expect(chain.pools.seen.blockProposers.root(HEAD + 1, Number(block.proposer_index))).toBeUndefined();
  });

  it("gets one block of a proposer for a slot, which may be handed over again and come back from the network", async () => {
    const { builder, caller, chain, devChain } = withBuilder;
    const gossiped: unknown[] = [];
    chain.events.on("blockGossip", ({ root }) => gossiped.push(root));
    const { signed, json } = withBuilder.sign(await produceBlinded());
    const other = withBuilder.sign({ ...(await produceBlinded()), state_root: `0x${"09".repeat(32)}` });
    const own = new ByHand(devChain).sign(await new ByHand(devChain).produce(HEAD + 1, chain.head.root));
    const ownContents = {
      signed_block: ssz[fork].SignedBeaconBlock.toJson(own.signed as never),
      kzg_proofs: [],
      blobs: [],
    };
    builder.behaviour.beforeReveal = () => {
      throw builderFault(400, "No payload for you.");
    };
    expect(await caller.error(PUBLISH, [json, "consensus_and_equivocation"])).toMatchObject({ code: UNAVAILABLE });
    for (const level of ["gossip", "consensus", "consensus_and_equivocation"]) {
      for (const [method, block] of [
        [PUBLISH, other.json],
        ["post_v2_beacon_blocks", ownContents],
      ] as const) {
        expect(await caller.error(method, [block, level])).toMatchObject(rejected(/already proposed another block/));
      }
    }
    expect(chain.head.slot).toBe(HEAD);
    expect(gossiped).toEqual([]);

    builder.behaviour.beforeReveal = () => {};
    expect(await caller.call(PUBLISH, [json, "consensus"])).toBe(fork === "fulu" ? 202 : 200);
    expect(builder.blindedBlocks.map(({ signature }) => signature)).toEqual([signed.signature, signed.signature]);
    if (fork === "fulu") {
      const whole = signedBlindedBlockToFull(
        fork as ForkName.fulu,
        signed,
        builder.payloadOf(signed),
      ) as SignedBeaconBlock;
      await validateGossipBlock(chain.validation, whole);
      await chain.importBlock(whole);
    } else {
      expect(gossiped).toEqual([chain.head.root]);
    }
    expect(chain.head.slot).toBe(HEAD + 1);
    // From then on the node has the payload.
    expect(await caller.call(PUBLISH, [json, "consensus_and_equivocation"])).toBe(200);
    expect(builder.blindedBlocks).toHaveLength(2);
  });
});

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

  it("is weighed with the factor of the request", async () => {
    expect(await withBuilder.produce()).toEqual({ isBlinded: true, value: String(builder.behaviour.value) });
    expect(await withBuilder.produce({ boostFactor: "0" })).toEqual({ isBlinded: false, value: "0" });
    builder.behaviour.value = 99n;
    expect(await withBuilder.produce()).toEqual({ isBlinded: false, value: "0" });
    expect(await withBuilder.produce({ boostFactor: ALWAYS_BUILDER })).toEqual({ isBlinded: true, value: "99" });
  });

  it("is not taken, whatever it is worth, where the engine insists on its own payload", async () => {
    const { engine } = withBuilder.opened.node.source;
    const getPayload = engine.getPayload.bind(engine);
    engine.getPayload = async (fork, id) => ({ ...(await getPayload(fork, id)), shouldOverrideBuilder: true });
    try {
      expect(await withBuilder.produce({ boostFactor: ALWAYS_BUILDER })).toEqual({ isBlinded: false, value: "0" });
    } finally {
      // The method of its class is left.
      Reflect.deleteProperty(engine, "getPayload");
    }
  });

  it("is not waited for beyond its time", async () => {
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
    ["with another gas limit", ({ header }) => (header.gasLimit += 1), "gas limit 30000001 instead of 30000000"],
    ["with other withdrawals", ({ header }) => (header.withdrawalsRoot = other), "withdrawals root 0x09"],
    ["worth nothing", (bid) => (bid.value = 0n), "pays nothing"],
    [
      "with too many blobs",
      (bid) => (bid.blobKzgCommitments = Array.from({ length: 10 }, () => new Uint8Array(48))),
      "at most 6",
    ],
    ["of a key that is none", (bid) => (bid.pubkey = new Uint8Array(48)), "not signed by the builder 0x00"],
  ];

  it.each(wrongBids)("gets nothing for a bid %s", async (_, change, complaint) => {
    builder.behaviour.changeBid = change as (bid: BuilderBid) => void;
    expect(await withBuilder.produce({ boostFactor: ALWAYS_BUILDER })).toEqual({ isBlinded: false, value: "0" });
    expect(complaints()).toContain(complaint);
  });

  it("gets nothing for a bid that it did not sign, or of another fork", async () => {
    builder.behaviour.changeSigned = ({ message }) => (message.value *= 2n);
    expect(await withBuilder.produce()).toEqual({ isBlinded: false, value: "0" });
    expect(complaints()).toContain("not signed by the builder");
    builder.reset();
    builder.behaviour.fork = ForkName.electra;
    builder.behaviour.changeSigned = (signed) => Object.assign(signed.message, { executionRequests: NO_REQUESTS });
    expect(await withBuilder.produce()).toEqual({ isBlinded: false, value: "0" });
    expect(complaints()).toContain("The bid is of electra");
  });

  it("may fail, which is told once", async () => {
    builder.behaviour.beforeBid = () => {
      throw builderFault(500, "The builder is at a loss.");
    };
    for (let attempt = 0; attempt < 2; attempt++) {
      expect(await withBuilder.produce()).toEqual({ isBlinded: false, value: "0" });
    }
    expect(withBuilder.opened.complaints).toEqual([expect.stringContaining("The builder is at a loss.")]);
  });

  it("helps where no payload can be built", async () => {
    const { engine } = withBuilder.opened.node.source;
    // What the engine built before for the same proposer would serve still.
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
      // The method of its class is left.
      Reflect.deleteProperty(engine, "forkchoiceUpdated");
    }
  });

  it("may withhold the payload that it offered, or give another", async () => {
    const { json } = await withBuilder.signedBlinded();
    builder.behaviour.beforeReveal = () => {
      throw builderFault(400, "No payload for you.");
    };
    expect(await withBuilder.caller.error(PUBLISH, [json])).toMatchObject({
      code: UNAVAILABLE,
      message: expect.stringMatching(/withholds the payload .* No payload for you/),
    });
    builder.behaviour = {
      ...builder.behaviour,
      beforeReveal() {},
      changePayload: (payload) => ({ ...payload, gasUsed: 1 }),
    };
    expect(await withBuilder.caller.error(PUBLISH, [json])).toMatchObject({
      code: UNAVAILABLE,
      message: expect.stringContaining("not the one that it bid for"),
    });
    expect(withBuilder.chain.head.slot).toBe(HEAD);
  });

  it("does not see a block that its proposer has not signed", async () => {
    const { signed, json } = await withBuilder.signedBlinded();
    const unsigned = { ...(json as object), signature: toHex(new ByHand(withBuilder.devChain).signer.sign(0, other)) };
    expect(await withBuilder.caller.error(PUBLISH, [unsigned])).toMatchObject({
      message: expect.stringContaining(`not signed by validator ${signed.message.proposerIndex}`),
    });
    expect(builder.blindedBlocks).toEqual([]);
  });

  it("is not asked while too many slots have no block, and hears of registrations each epoch", async () => {
    const { devChain, opened } = withBuilder;
    await withBuilder.nextSlot();
    await withBuilder.nextSlot();
    expect(await withBuilder.produce()).toMatchObject({ isBlinded: true });
    await withBuilder.nextSlot();
    expect(devChain.clock.currentSlot).toBe(HEAD + 4);
    expect(opened.complaints).toHaveLength(1);
    expect(complaints()).toContain("builders are not asked");
    builder.reset();
    expect(await withBuilder.produce({ boostFactor: ALWAYS_BUILDER })).toMatchObject({ isBlinded: false });
    expect(builder.bidRequests).toEqual([]);

    // A block, and it is over.
    await new ByHand(devChain).propose(devChain.clock.currentSlot, withBuilder.chain.head.root);
    await withBuilder.nextSlot();
    expect(devChain.clock.currentSlot).toBe(SLOTS_PER_EPOCH);
    await builder.until(() => builder.registrations.length === devChain.keys.count);
    expect(await withBuilder.produce()).toMatchObject({ isBlinded: true });
    expect(opened.complaints).toHaveLength(1);
  });
});

test("validators of a dev chain register for its builder and sign what it bids for", async ({ onTestFinished }) => {
  const builder = await MockBuilder.start();
  onTestFinished(() => builder.close());
  const { devChain, complaints } = await openDevChain({
    forks: [{ fork: "electra", epoch: 0 }],
    speed: 4,
    builder: { ...DEFAULT_BUILDER_OPTIONS, url: builder.url },
  });
  const { chain } = devChain;
  builder.chain = chain;
  // Before the chain runs, nobody is registered.
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
