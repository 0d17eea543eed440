import { randomBytes } from "node:crypto";
import type { Connection, Stream } from "@libp2p/interface";
import { type SignedBeaconBlock, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { compressSync } from "snappy";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Host } from "../libp2p/host.ts";
import { chainOfBlocks, chunkOf, rootOf, startHost, startNode, stopNode, type TestNode } from "./hosts.test-support.ts";
import { type ProtocolName, protocolId, SERVED_VERSIONS } from "./protocols.ts";
import { encodeChunk, encodeErrorChunk } from "./response-chunk.ts";
import { encodeFrames, encodePayload, encodeVarint } from "./ssz-snappy.ts";

const RESPONSE_BYTES = 5000;
const blocks = chainOfBlocks(20);
const block = (slot: number) => blocks[slot - 1]!;
const status = ssz.fulu.Status.serialize(ssz.fulu.Status.defaultValue());

let node: TestNode;
/** Waits for nobody; the others have time enough even on a busy machine. */
let impatient: TestNode;
let stranger: Host;
let strangerId: string;

beforeAll(async () => {
  const times = { firstByteMs: 100, chunkMs: 100 };
  [node, impatient] = await Promise.all([
    startNode([], { lingerMs: 50, responseBytes: RESPONSE_BYTES }),
    startNode([], times),
  ]);
  stranger = await startHost();
  strangerId = stranger.peerId.toString();
  // Only peers that are known to withhold answers are asked as often as these tests do.
  await strangerAnswers("status", () => {});
  const identified = new Promise<void>((resolve) => node.host.addEventListener("peer:identify", () => resolve()));
  await node.host.dial(stranger.getMultiaddrs());
  await impatient.host.dial(stranger.getMultiaddrs());
  await identified;
  await stranger.unhandle(SERVED_VERSIONS.status.map((version) => protocolId({ name: "status", version })));
});

afterEach(async () => {
  node.penalties.length = 0;
  await stranger.unhandle(stranger.getProtocols().filter((id) => id.startsWith("/eth2/")));
});

afterAll(async () => {
  await Promise.all([stopNode(node), stopNode(impatient), stranger.stop()]);
});

type Behaviour = (stream: Stream, connection: Connection) => void | Promise<void>;

/** Lets the stranger behave so in answer to requests. */
async function strangerAnswers(
  name: ProtocolName,
  behaviour: Behaviour,
  versions = SERVED_VERSIONS[name],
): Promise<void> {
  for (const version of versions) await stranger.handle(protocolId({ name, version }), behaviour);
}

/** Sends the bytes and ends the stream. */
function sending(...parts: Uint8Array[]): Behaviour {
  return async (stream) => {
    stream.send(Buffer.concat(parts));
    await stream.close();
  };
}

const severities = () => node.penalties.map(({ severity }) => severity);
const askStatus = () => node.requests.status(strangerId);
const askRange = (startSlot: number, count: number) => node.requests.blocksByRange(strangerId, { startSlot, count });

function blockChunks(...list: SignedBeaconBlock[]): Uint8Array[] {
  return list.map((each) => {
    const { bytes, forkDigest } = chunkOf(each);
    return encodeChunk(bytes, forkDigest);
  });
}

const identifier = encodeFrames(new Uint8Array(0));
const bomb = compressSync(Buffer.alloc(1 << 20));
const bombFrame = Buffer.concat([Buffer.from([0, bomb.length + 4, (bomb.length + 4) >> 8, 0, 0, 0, 0, 0]), bomb]);

describe("answers that are none are malformed:", () => {
  const CASES: [what: string, ...parts: Uint8Array[]][] = [
    ["garbage", Uint8Array.of(0), randomBytes(300)],
    ["an answer of another length", encodeChunk(status.subarray(1))],
    ["less than was announced", Uint8Array.of(0), encodeVarint(92), encodeFrames(status.subarray(2))],
    ["a bomb", Uint8Array.of(0), encodeVarint(92), identifier, bombFrame],
    ["two answers", encodeChunk(status), encodeChunk(status)],
    ["impossible numbers", encodeChunk(Buffer.alloc(92, 0xff))],
  ];
  test.each(CASES)("%s", async (_what, ...parts) => {
    await strangerAnswers("status", sending(...parts));

    await expect(askStatus()).rejects.toMatchObject({ name: "RequestError", failure: "malformed" });
    expect(severities()).toEqual(["severe"]);
  });
});

describe("blocks that do not belong into an answer make it malformed:", () => {
  const foreign = { ...chunkOf(block(3)), forkDigest: Uint8Array.of(1, 2, 3, 4) };
  const mislabelled = { ...chunkOf(block(3)), forkDigest: chunkOf(block(17)).forkDigest };
  const orphan = { ...block(6), message: { ...block(6).message, parentRoot: Buffer.alloc(32, 1) } };
  const CASES: [what: string, message: RegExp, ...parts: Uint8Array[]][] = [
    ["one before the range", /outside/, ...blockChunks(block(1), block(2))],
    ["one behind the range", /outside/, ...blockChunks(block(9))],
    ["one twice", /ascending/, ...blockChunks(block(3), block(3))],
    ["descending ones", /ascending/, ...blockChunks(block(4), block(3))],
    ["one of another chain", /child/, ...blockChunks(block(5), orphan)],
    ["a gap", /child/, ...blockChunks(block(3), block(5))],
    ["an unknown fork", /not known/, encodeChunk(foreign.bytes, foreign.forkDigest)],
    ["another fork", /length|decoded|another fork/, encodeChunk(mislabelled.bytes, mislabelled.forkDigest)],
    ["no block", /decoded/, encodeChunk(Buffer.alloc(404, 0xff), chunkOf(block(3)).forkDigest)],
  ];
  test.each(CASES)("%s", async (_what, message, ...parts) => {
    await strangerAnswers("beacon_blocks_by_range", sending(...parts));

    await expect(askRange(2, 7)).rejects.toMatchObject({
      failure: "malformed",
      message: expect.stringMatching(message),
    });
    expect(severities()).toEqual(["severe"]);
  });

  test("more than were asked for, without end", async () => {
    const reset = Promise.withResolvers<void>();
    await strangerAnswers("beacon_blocks_by_root", (stream) => {
      stream.addEventListener("close", () => reset.resolve());
      stream.send(Buffer.concat(blockChunks(block(1), block(2), ...Array<SignedBeaconBlock>(200).fill(block(2)))));
    });
    const roots = [block(1), block(2)].map((each) => toRootHex(rootOf(each)));

    await expect(node.requests.blocksByRoot(strangerId, roots)).rejects.toMatchObject({ failure: "malformed" });
    await reset.promise;
  });

  test.each<[string, SignedBeaconBlock[]]>([
    ["one with a root that was not asked for", [block(1), block(3)]],
    ["the same twice", [block(1), block(1)]],
  ])("%s", async (_what, list) => {
    await strangerAnswers("beacon_blocks_by_root", sending(...blockChunks(...list)));
    const roots = [block(1), block(2)].map((each) => toRootHex(rootOf(each)));

    await expect(node.requests.blocksByRoot(strangerId, roots)).rejects.toMatchObject({ failure: "malformed" });
    expect(severities()).toEqual(["severe"]);
  });
});

describe("who is too slow is not waited for:", () => {
  test.each<[string, Behaviour]>([
    ["no answer", () => {}],
    ["half an answer", (stream) => void stream.send(encodeChunk(status).subarray(0, 20))],
  ])("%s", async (_what, behaviour) => {
    await strangerAnswers("status", behaviour);

    impatient.penalties.length = 0;
    await expect(impatient.requests.status(strangerId)).rejects.toMatchObject({ failure: "timeout" });
    expect(impatient.penalties).toMatchObject([{ peerId: strangerId, severity: "moderate" }]);
  });

  test("but a stream that is not ended after the answer does not matter", async () => {
    await strangerAnswers("status", (stream) => void stream.send(encodeChunk(status)));

    expect(ssz.fulu.Status.serialize(await askStatus())).toEqual(status);
    expect(severities()).toEqual([]);
  });
});

describe("refusals", () => {
  test.each([
    [1, []],
    [2, ["mild"]],
    [3, []],
    [139, []],
  ])("with code %i tell the code and the message", async (code, penalties) => {
    await strangerAnswers(
      "beacon_blocks_by_range",
      sending(...blockChunks(block(2)), encodeErrorChunk(code, "no \u{1f9c0}")),
    );

    await expect(askRange(2, 7)).rejects.toMatchObject({
      failure: "refused",
      code,
      message: expect.stringContaining("no \u{1f9c0}"),
    });
    expect(severities()).toEqual(penalties);
  });

  test("need no message, and it cannot be long", async () => {
    await strangerAnswers("status", sending(Uint8Array.of(2)));
    await expect(askStatus()).rejects.toMatchObject({ failure: "refused", code: 2 });
    expect(encodeErrorChunk(2, "x".repeat(1000))).toEqual(
      Buffer.concat([Uint8Array.of(2), encodePayload(Buffer.alloc(256, "x"))]),
    );
  });

  test("are none without a message that can be read", async () => {
    await strangerAnswers("status", sending(Uint8Array.of(200), randomBytes(100).fill(0xff, 0, 10)));
    await expect(askStatus()).rejects.toMatchObject({ failure: "malformed" });
    expect(severities()).toEqual(["severe"]);
  });

  test.each<[string, Behaviour]>([
    ["a reset stream", (stream) => stream.abort(new Error("no"))],
    ["an empty answer", async (stream) => stream.close()],
  ])("may be %s", async (_what, behaviour) => {
    await strangerAnswers("status", behaviour);

    await expect(askStatus()).rejects.toMatchObject({ failure: "refused", code: undefined });
    expect(severities()).toEqual(["mild"]);
  });
});

test("a protocol that the peer does not speak is held against it where it is indispensable", async () => {
  await expect(askRange(1, 1)).rejects.toMatchObject({ failure: "unsupported" });
  expect(severities()).toEqual([]);
  await expect(node.requests.ping(strangerId)).rejects.toMatchObject({ failure: "unsupported" });
  expect(severities()).toEqual(["severe"]);
});

test("an older peer is asked with the newest version that it speaks", async () => {
  const old = ssz.phase0.Status.serialize(ssz.phase0.Status.defaultValue());
  await strangerAnswers("status", sending(encodeChunk(old)), [1]);

  expect(await askStatus()).toMatchObject({ headSlot: 0, earliestAvailableSlot: 0 });
});

test("blocks of phase0 come with version 1 too, before altair", async () => {
  const plain = [block(2), block(3)].map((each) => encodeChunk(chunkOf(each).bytes));
  await strangerAnswers("beacon_blocks_by_range", sending(...plain), [1]);

  await expect(askRange(2, 7)).rejects.toMatchObject({ failure: "unsupported" });
  node.clock.currentEpoch = 1;
  const received = await askRange(2, 7).finally(() => (node.clock.currentEpoch = 4));
  expect(received.map(({ message }) => message.slot)).toEqual([2, 3]);
});

test("a response of too many bytes counts as one that ends there", async () => {
  await strangerAnswers("beacon_blocks_by_range", sending(...blockChunks(...blocks)));

  const received = await askRange(1, 20);

  const sizes = blocks.map((each) => chunkOf(each).bytes.length);
  const total = (count: number) => sizes.slice(0, count).reduce((sum, size) => sum + size, 0);
  expect(received.length).toBeLessThan(20);
  expect(total(received.length)).toBeGreaterThan(RESPONSE_BYTES);
  expect(total(received.length - 1)).toBeLessThanOrEqual(RESPONSE_BYTES);
});

test("a request that is given up ends the stream and is nobody's fault", async () => {
  const opened = Promise.withResolvers<Stream>();
  await strangerAnswers("status", (stream) => opened.resolve(stream));
  const giving = new AbortController();
  const asked = node.requests.status(strangerId, giving.signal);
  const stream = await opened.promise;
  const reset = new Promise<void>((resolve) => stream.addEventListener("close", () => resolve()));
  giving.abort();

  await expect(asked).rejects.toMatchObject({ name: "RequestError", failure: "disconnected" });
  await reset;
  expect(severities()).toEqual([]);
});

test("a connection that ends in the middle of a response is nobody's fault", async () => {
  await strangerAnswers("beacon_blocks_by_range", async (stream, connection) => {
    stream.send(Buffer.concat(blockChunks(block(2), block(3))));
    await connection.close();
  });

  await expect(askRange(2, 7)).rejects.toMatchObject({ failure: "disconnected" });
  await expect(askRange(2, 7)).rejects.toMatchObject({ failure: "disconnected" });
  await expect(node.requests.goodbye(strangerId, 1n)).resolves.toBeUndefined();
  expect(severities()).toEqual([]);
});
