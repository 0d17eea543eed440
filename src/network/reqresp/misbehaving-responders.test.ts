import { randomBytes } from "node:crypto";
import type { Connection, Stream } from "@libp2p/interface";
import { type SignedBeaconBlock, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { compressSync } from "snappy";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  chainOfBlocks,
  chunkOf,
  FIRST_ELECTRA_SLOT,
  FIRST_FULU_SLOT,
  rootOf,
  sidecarChunkOf,
  sidecarOf,
  startHost,
  startNode,
  stopNode,
  type TestNode,
} from "../../../test/support/network/reqresp/hosts.ts";
import { serializeSidecar } from "../../data/sidecar.ts";
import type { Host } from "../libp2p/host.ts";
import { type ProtocolName, protocolId, SERVED_VERSIONS } from "./protocols.ts";
import { encodeChunk, encodeErrorChunk, type ResponseChunk } from "./response-chunk.ts";
import { encodeFrames, encodePayload, encodeVarint } from "./ssz-snappy.ts";

const RESPONSE_BYTES = 300_000;
const blocks = chainOfBlocks(FIRST_FULU_SLOT + 1);
const block = (slot: number) => blocks[slot - 1]!;
const status = ssz.fulu.Status.serialize(ssz.fulu.Status.defaultValue());

let node: TestNode;
/** A node with short timeouts. The other nodes have generous ones. */
let impatient: TestNode;
let stranger: Host;
let strangerId: string;

beforeAll(async () => {
  const times = { ttfbTimeoutMs: 100, respTimeoutMs: 100 };
  [node, impatient] = await Promise.all([
    startNode([], { lingerMs: 50, responseBytes: RESPONSE_BYTES }),
    startNode([], times),
  ]);
  stranger = await startHost();
  strangerId = stranger.peerId.toString();
  // The client does not rate-limit its requests to peers that delay their responses.
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

/** Installs the stranger's request handler. */
async function strangerAnswers(
  name: ProtocolName,
  behaviour: Behaviour,
  versions = SERVED_VERSIONS[name],
): Promise<void> {
  for (const version of versions) await stranger.handle(protocolId({ name, version }), behaviour);
}

/** Sends the bytes and closes the stream. */
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
  return list.map((each) => encoded(chunkOf(each)));
}

function encoded({ bytes, forkDigest }: ResponseChunk): Uint8Array {
  return encodeChunk(bytes, forkDigest);
}

const identifier = encodeFrames(new Uint8Array(0));
const bomb = compressSync(Buffer.alloc(1 << 20));
const bombFrame = Buffer.concat([Buffer.from([0, bomb.length + 4, (bomb.length + 4) >> 8, 0, 0, 0, 0, 0]), bomb]);

describe("invalid responses are malformed:", () => {
  const CASES: [what: string, ...parts: Uint8Array[]][] = [
    ["garbage", Uint8Array.of(0), randomBytes(300)],
    ["a response of wrong length", encodeChunk(status.subarray(1))],
    ["less than the payload length", Uint8Array.of(0), encodeVarint(92), encodeFrames(status.subarray(2))],
    ["a bomb", Uint8Array.of(0), encodeVarint(92), identifier, bombFrame],
    ["two responses", encodeChunk(status), encodeChunk(status)],
    ["unsafe integers", encodeChunk(Buffer.alloc(92, 0xff))],
  ];
  it.each(CASES)("%s", async (_what, ...parts) => {
    await strangerAnswers("status", sending(...parts));

    await expect(askStatus()).rejects.toMatchObject({ name: "RequestError", failure: "malformed" });
    expect(severities()).toEqual(["severe"]);
  });
});

describe("unexpected blocks make a response malformed:", () => {
  const foreign = { ...chunkOf(block(3)), forkDigest: Uint8Array.of(1, 2, 3, 4) };
  const mislabelled = { ...chunkOf(block(3)), forkDigest: chunkOf(block(17)).forkDigest };
  const orphan = { ...block(6), message: { ...block(6).message, parentRoot: Buffer.alloc(32, 1) } };
  const CASES: [what: string, message: RegExp, ...parts: Uint8Array[]][] = [
    ["one before the range", /outside/, ...blockChunks(block(1), block(2))],
    ["one after the range", /outside/, ...blockChunks(block(9))],
    ["one twice", /ascending/, ...blockChunks(block(3), block(3))],
    ["descending ones", /ascending/, ...blockChunks(block(4), block(3))],
    ["one of another chain", /child/, ...blockChunks(block(5), orphan)],
    ["a gap", /child/, ...blockChunks(block(3), block(5))],
    ["an unknown fork", /unknown/, encodeChunk(foreign.bytes, foreign.forkDigest)],
    ["another fork", /length|decoded|does not match/, encodeChunk(mislabelled.bytes, mislabelled.forkDigest)],
    ["no block", /decoded/, encodeChunk(Buffer.alloc(404, 0xff), chunkOf(block(3)).forkDigest)],
  ];
  it.each(CASES)("%s", async (_what, message, ...parts) => {
    await strangerAnswers("beacon_blocks_by_range", sending(...parts));

    await expect(askRange(2, 7)).rejects.toMatchObject({
      failure: "malformed",
      message: expect.stringMatching(message),
    });
    expect(severities()).toEqual(["severe"]);
  });

  it("an endless response", async () => {
    const reset = Promise.withResolvers<void>();
    await strangerAnswers("beacon_blocks_by_root", (stream) => {
      stream.addEventListener("close", () => reset.resolve());
      stream.send(Buffer.concat(blockChunks(block(1), block(2), ...Array<SignedBeaconBlock>(200).fill(block(2)))));
    });
    const roots = [block(1), block(2)].map((each) => toRootHex(rootOf(each)));

    await expect(node.requests.blocksByRoot(strangerId, roots)).rejects.toMatchObject({ failure: "malformed" });
    await reset.promise;
  });

  it.each<[string, SignedBeaconBlock[]]>([
    ["one with a root that was not requested", [block(1), block(3)]],
    ["the same twice", [block(1), block(1)]],
  ])("%s", async (_what, list) => {
    await strangerAnswers("beacon_blocks_by_root", sending(...blockChunks(...list)));
    const roots = [block(1), block(2)].map((each) => toRootHex(rootOf(each)));

    await expect(node.requests.blocksByRoot(strangerId, roots)).rejects.toMatchObject({ failure: "malformed" });
    expect(severities()).toEqual(["severe"]);
  });
});

describe("blocks by head that are not ancestors make a response malformed:", () => {
  it.each<[string, SignedBeaconBlock[]]>([
    ["not starting with the requested block", [block(8), block(7)]],
    ["a gap", [block(9), block(7)]],
    ["ascending ones", [block(9), block(10)]],
  ])("%s", async (_what, list) => {
    await strangerAnswers("beacon_blocks_by_head", sending(...blockChunks(...list)));
    const response = node.requests.blocksByHead(strangerId, { root: toRootHex(rootOf(block(9))), count: 5 });

    await expect(response).rejects.toMatchObject({ failure: "malformed", message: expect.stringMatching(/parent/) });
    expect(severities()).toEqual(["severe"]);
  });
});

describe("unexpected sidecars make a response malformed:", () => {
  const chunk = (slot: number, index: number) => sidecarChunkOf(sidecarOf(block(slot), index));
  const [electra, fulu] = [FIRST_ELECTRA_SLOT + 1, FIRST_FULU_SLOT];
  const rival = { ...block(electra), message: { ...block(electra).message, proposerIndex: 9 } };
  const tooLong = { ...ssz.fulu.DataColumnSidecar.defaultValue(), column: Array(10).fill(Buffer.alloc(2048)) };
  const BY_RANGE: [what: string, message: RegExp, ...chunks: ResponseChunk[]][] = [
    ["a slot before the range", /not requested/, chunk(electra - 1, 0)],
    ["a slot after the range", /not requested/, chunk(electra + 4, 0)],
    ["the same twice", /order/, chunk(electra, 0), chunk(electra, 0)],
    ["descending indices", /order/, chunk(electra, 1), chunk(electra, 0)],
    ["descending slots", /order/, chunk(electra + 1, 0), chunk(electra, 1)],
    ["two blocks of a slot", /different blocks/, chunk(electra, 0), sidecarChunkOf(sidecarOf(rival, 1))],
    ["an index out of range", /index/, chunk(electra, 9)],
    ["an unknown fork", /unknown/, { ...chunk(electra, 0), forkDigest: Uint8Array.of(1, 2, 3, 4) }],
    [
      "a fork without blobs",
      /no sidecars of this kind/,
      { ...chunk(electra, 0), forkDigest: chunkOf(block(17)).forkDigest },
    ],
    ["a column", /no sidecars of this kind/, chunk(fulu, 0)],
    ["no sidecar", /length/, { ...chunk(electra, 0), bytes: Buffer.alloc(100) }],
  ];
  it.each(BY_RANGE)("blobs: %s", async (_what, message, ...chunks) => {
    await strangerAnswers("blob_sidecars_by_range", sending(...chunks.map(encoded)));
    const response = node.requests.blobSidecarsByRange(strangerId, { startSlot: electra, count: 4 });

    await expect(response).rejects.toMatchObject({ failure: "malformed", message: expect.stringMatching(message) });
    expect(severities()).toEqual(["severe"]);
  });

  const COLUMNS_BY_RANGE: [what: string, message: RegExp, ...chunks: ResponseChunk[]][] = [
    ["one that was not requested", /not requested/, chunk(fulu, 2)],
    ["descending ones", /order/, chunk(fulu, 7), chunk(fulu, 1)],
    ["more cells than a block has blobs", /length/, { ...chunk(fulu, 1), bytes: serializeSidecar(tooLong) }],
    ["a blob", /no sidecars of this kind/, chunk(electra, 0)],
    ["another fork", /length|decoded|does not match/, { ...chunk(electra, 0), forkDigest: chunk(fulu, 1).forkDigest }],
  ];
  it.each(COLUMNS_BY_RANGE)("columns: %s", async (_what, message, ...chunks) => {
    await strangerAnswers("data_column_sidecars_by_range", sending(...chunks.map(encoded)));
    const received: unknown[] = [];
    const range = { startSlot: fulu, count: 4 };
    const response = node.requests.columnSidecarsByRange(strangerId, range, [1, 7], undefined, (one) =>
      received.push(one),
    );

    await expect(response).rejects.toMatchObject({ failure: "malformed", message: expect.stringMatching(message) });
    expect(severities()).toEqual(["severe"]);
    expect(received).toHaveLength(chunks.length - 1);
  });

  it.each<[string, ...ResponseChunk[]]>([
    ["of a block that was not requested", chunk(fulu + 1, 1)],
    ["of an index that was not requested", chunk(fulu, 2)],
    ["twice", chunk(fulu, 1), chunk(fulu, 1)],
  ])("by root: %s", async (_what, ...chunks) => {
    await strangerAnswers("data_column_sidecars_by_root", sending(...chunks.map(encoded)));
    const wanted = [{ root: toRootHex(rootOf(block(fulu))), indices: [1, 7] }];

    await expect(node.requests.columnSidecarsByRoot(strangerId, wanted)).rejects.toMatchObject({
      failure: "malformed",
    });
    expect(severities()).toEqual(["severe"]);
  });
});

describe("slow peers time out:", () => {
  it.each<[string, Behaviour]>([
    ["no response", () => {}],
    ["half a response", (stream) => void stream.send(encodeChunk(status).subarray(0, 20))],
  ])("%s", async (_what, behaviour) => {
    await strangerAnswers("status", behaviour);

    impatient.penalties.length = 0;
    await expect(impatient.requests.status(strangerId)).rejects.toMatchObject({ failure: "timeout" });
    expect(impatient.penalties).toMatchObject([{ peerId: strangerId, severity: "moderate" }]);
  });

  it("except for a stream left open after the response", async () => {
    await strangerAnswers("status", (stream) => void stream.send(encodeChunk(status)));

    expect(ssz.fulu.Status.serialize(await askStatus())).toEqual(status);
    expect(severities()).toEqual([]);
  });
});

describe("refusals", () => {
  it.each([
    [1, []],
    [2, ["mild"]],
    [3, []],
    [139, []],
  ])("with code %i report the code and the message", async (code, penalties) => {
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

  it("need no message, and it is bounded", async () => {
    await strangerAnswers("status", sending(Uint8Array.of(2)));
    await expect(askStatus()).rejects.toMatchObject({ failure: "refused", code: 2 });
    expect(encodeErrorChunk(2, "x".repeat(1000))).toEqual(
      Buffer.concat([Uint8Array.of(2), encodePayload(Buffer.alloc(256, "x"))]),
    );
  });

  it("are malformed with an invalid message", async () => {
    await strangerAnswers("status", sending(Uint8Array.of(200), randomBytes(100).fill(0xff, 0, 10)));
    await expect(askStatus()).rejects.toMatchObject({ failure: "malformed" });
    expect(severities()).toEqual(["severe"]);
  });

  it.each<[string, Behaviour]>([
    ["a reset stream", (stream) => stream.abort(new Error("no"))],
    ["an empty response", async (stream) => stream.close()],
  ])("may be %s", async (_what, behaviour) => {
    await strangerAnswers("status", behaviour);

    await expect(askStatus()).rejects.toMatchObject({ failure: "refused", code: undefined });
    expect(severities()).toEqual(["mild"]);
  });
});

it("a missing protocol is penalized only if it is required", async () => {
  await expect(askRange(1, 1)).rejects.toMatchObject({ failure: "unsupported" });
  expect(severities()).toEqual([]);
  await expect(node.requests.ping(strangerId)).rejects.toMatchObject({ failure: "unsupported" });
  expect(severities()).toEqual(["severe"]);
});

it("an older peer gets the newest version that it supports", async () => {
  const old = ssz.phase0.Status.serialize(ssz.phase0.Status.defaultValue());
  await strangerAnswers("status", sending(encodeChunk(old)), [1]);

  expect(await askStatus()).toMatchObject({ headSlot: 0, earliestAvailableSlot: 0 });
});

it("phase0 blocks are also requested with version 1 before altair", async () => {
  const plain = [block(2), block(3)].map((each) => encodeChunk(chunkOf(each).bytes));
  await strangerAnswers("beacon_blocks_by_range", sending(...plain), [1]);

  await expect(askRange(2, 7)).rejects.toMatchObject({ failure: "unsupported" });
  node.clock.currentEpoch = 1;
  const received = await askRange(2, 7).finally(() => (node.clock.currentEpoch = 4));
  expect(received.map(({ message }) => message.slot)).toEqual([2, 3]);
});

it("a response is truncated at its size limit", async () => {
  const chunks = [1, 2, 3, 4].map((ahead) => sidecarChunkOf(sidecarOf(block(FIRST_ELECTRA_SLOT + ahead), 0)));
  await strangerAnswers("blob_sidecars_by_range", sending(...chunks.map(encoded)));

  const received = await node.requests.blobSidecarsByRange(strangerId, { startSlot: FIRST_ELECTRA_SLOT, count: 8 });

  expect(received).toHaveLength(Math.ceil(RESPONSE_BYTES / chunks[0]!.bytes.length));
  expect(received.length).toBeLessThan(chunks.length);
});

it("an aborted request resets the stream without a penalty", async () => {
  const opened = Promise.withResolvers<Stream>();
  await strangerAnswers("status", (stream) => opened.resolve(stream));
  const giving = new AbortController();
  const response = node.requests.status(strangerId, giving.signal);
  const stream = await opened.promise;
  const reset = new Promise<void>((resolve) => stream.addEventListener("close", () => resolve()));
  giving.abort();

  await expect(response).rejects.toMatchObject({ name: "RequestError", failure: "disconnected" });
  await reset;
  expect(severities()).toEqual([]);
});

it("a connection closed within a response is not penalized", async () => {
  await strangerAnswers("beacon_blocks_by_range", async (stream, connection) => {
    stream.send(Buffer.concat(blockChunks(block(2), block(3))));
    await connection.close();
  });

  await expect(askRange(2, 7)).rejects.toMatchObject({ failure: "disconnected" });
  await expect(askRange(2, 7)).rejects.toMatchObject({ failure: "disconnected" });
  await expect(node.requests.goodbye(strangerId, 1n)).resolves.toBeUndefined();
  expect(severities()).toEqual([]);
});
