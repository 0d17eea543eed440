import { randomBytes } from "node:crypto";
import { ssz } from "@lodestar/types";
import { compressSync } from "snappy";
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  chainOfBlocks,
  chunkOf,
  collect,
  config,
  openStream,
  startHost,
  startNode,
  stopNode,
  type TestNode,
} from "../../../test/support/network/reqresp/hosts.ts";
import type { Host } from "../libp2p/host.ts";
import { DEFAULT_LIMITS } from "./limits.ts";
import { type Protocol, type ProtocolName, servedProtocols } from "./protocols.ts";
import { encodeFrames, encodePayload, encodeVarint } from "./ssz-snappy.ts";

const BURST = 3;
const status = ssz.phase0.Status.serialize(ssz.phase0.Status.defaultValue());
const phase0Blocks = chainOfBlocks(17);

let node: TestNode;
/** A node with short timeouts. The other nodes have generous ones. */
let impatient: TestNode;
let stranger: Host;

beforeAll(async () => {
  const requestRates = {
    ...DEFAULT_LIMITS.requestRates,
    status: { burst: 100, perSecond: 100 },
    ping: { burst: BURST, perSecond: 0.001 },
  };
  [node, impatient] = await Promise.all([
    startNode(phase0Blocks, { lingerMs: 100, maxDelayMs: 0, requestRates }),
    startNode(phase0Blocks, { requestMs: 100, writeMs: 100 }),
  ]);
  stranger = await startHost();
  await stranger.dial(node.host.getMultiaddrs());
  await stranger.dial(impatient.host.getMultiaddrs());
});

afterEach(() => {
  node.penalties.length = 0;
  impatient.penalties.length = 0;
});

afterAll(async () => {
  expect(node.warnings()).toEqual([]);
  await Promise.all([stopNode(node), stopNode(impatient), stranger.stop()]);
});

const severities = ({ penalties } = node) => penalties.map(({ severity }) => severity);

async function ask({ name, version }: Protocol, bytes: Uint8Array, end = true) {
  const stream = await openStream(stranger, node.host, name, version);
  const answer = collect(stream);
  if (bytes.length > 0) stream.send(bytes);
  if (end) await stream.close();
  return answer;
}

const rangeRequest = (startSlot: number, count: number, step = 1) =>
  encodePayload(ssz.phase0.BeaconBlocksByRangeRequest.serialize({ startSlot, count, step }));

describe("malformed requests are answered with code 1 and penalized:", () => {
  it.each(servedProtocols())("garbage for $name $version", async (protocol) => {
    const { bytes } = await ask(protocol, randomBytes(200));

    expect(bytes[0]).toBe(1);
    expect(severities()).toEqual(["severe"]);
  });

  const crc = Buffer.alloc(4);
  const bomb = compressSync(Buffer.alloc(1 << 20));
  const bombFrame = Buffer.concat([Buffer.from([0, bomb.length + 4, (bomb.length + 4) >> 8, 0]), crc, bomb]);
  const identifier = encodeFrames(new Uint8Array(0));
  const CASES: [what: string, bytes: Uint8Array][] = [
    ["an empty stream", new Uint8Array(0)],
    ["a length out of range", Buffer.concat([encodeVarint(83), encodeFrames(status.subarray(1))])],
    ["a huge length", Buffer.concat([encodeVarint(2 ** 50), encodeFrames(status)])],
    ["an endless varint", Buffer.alloc(11, 0x80)],
    ["less than the payload length", Buffer.concat([encodeVarint(84), encodeFrames(status.subarray(10))])],
    ["more than the payload length", Buffer.concat([encodeVarint(84), encodeFrames(Buffer.concat([status, status]))])],
    ["trailing data", Buffer.concat([encodePayload(status), Buffer.from([0])])],
    ["a bomb", Buffer.concat([encodeVarint(84), identifier, bombFrame])],
    [
      "endless padding",
      Buffer.concat([encodeVarint(84), identifier, Buffer.alloc(1 << 18, Buffer.from([0xfe, 0, 0, 0]))]),
    ],
    ["unsafe integers", encodePayload(Buffer.alloc(84, 0xff))],
  ];
  it.each(CASES)("%s", async (_what, bytes) => {
    const answer = await ask({ name: "status", version: 1 }, bytes);

    expect(answer.bytes[0]).toBe(1);
    expect(severities()).toEqual(["severe"]);
  });

  it("an invalid list of roots", async () => {
    expect((await ask({ name: "beacon_blocks_by_root", version: 2 }, encodePayload(randomBytes(33)))).bytes[0]).toBe(1);
  });
});

describe("invalid requests are answered with code 1:", () => {
  it.each<[string, Uint8Array]>([
    ["a step other than 1", rangeRequest(1, 5, 2)],
    ["zero blocks", rangeRequest(1, 0)],
  ])("%s", async (_what, bytes) => {
    expect((await ask({ name: "beacon_blocks_by_range", version: 2 }, bytes)).bytes[0]).toBe(1);
  });

  it("too many roots", async () => {
    const roots = encodePayload(randomBytes(32 * 129));
    expect((await ask({ name: "beacon_blocks_by_root", version: 2 }, roots)).bytes[0]).toBe(1);
  });

  it.each<[string, ProtocolName, Uint8Array]>([
    ["zero blocks by head", "beacon_blocks_by_head", new Uint8Array(40)],
    ["zero slots of blobs", "blob_sidecars_by_range", new Uint8Array(16)],
    [
      "no slots of columns",
      "data_column_sidecars_by_range",
      ssz.fulu.DataColumnSidecarsByRangeRequest.serialize({ startSlot: 1, count: 0, columns: [1] }),
    ],
  ])("%s", async (_what, name, request) => {
    expect((await ask({ name, version: 1 }, encodePayload(request))).bytes[0]).toBe(1);
  });

  it("too many blob sidecars before electra", async () => {
    const request = encodePayload(Buffer.alloc(40 * (config.MAX_REQUEST_BLOB_SIDECARS + 1)));
    node.clock.currentEpoch = 2;
    const { bytes } = await ask({ name: "blob_sidecars_by_root", version: 1 }, request);
    node.clock.currentEpoch = 4;
    expect(bytes[0]).toBe(1);
    expect((await ask({ name: "blob_sidecars_by_root", version: 1 }, request)).bytes).toEqual(Buffer.alloc(0));
  });

  it("blocks after phase0 with version 1, but not those before", async () => {
    const { bytes } = await ask({ name: "beacon_blocks_by_range", version: 1 }, rangeRequest(15, 5));

    const first = chunkOf(phase0Blocks[14]!).bytes;
    const expected = Buffer.concat([Uint8Array.of(0), encodePayload(first)]);
    expect(bytes.subarray(0, expected.length).equals(expected)).toBe(true);
    expect(bytes[expected.length]).toBe(1);
  });
});

describe("an empty list has an empty response:", () => {
  it.each<ProtocolName>(["beacon_blocks_by_root", "blob_sidecars_by_root", "data_column_sidecars_by_root"])(
    "%s",
    async (name) => {
      const version = name === "beacon_blocks_by_root" ? 2 : 1;
      // With and without frames for an empty payload.
      for (const request of [encodePayload(new Uint8Array(0)), encodeVarint(0)]) {
        expect(await ask({ name, version }, request)).toEqual({ bytes: Buffer.alloc(0), wasReset: false });
      }
      expect(severities()).toEqual([]);
    },
  );
});

it("a range beyond 2^53 - 1 is empty", async () => {
  const request = encodePayload(Buffer.concat([Buffer.alloc(16, 0xff), Buffer.from([1, 0, 0, 0, 0, 0, 0, 0])]));

  expect(await ask({ name: "beacon_blocks_by_range", version: 2 }, request)).toEqual({
    bytes: Buffer.alloc(0),
    wasReset: false,
  });
});

it("an incomplete request times out", async () => {
  const stream = await openStream(stranger, impatient.host, "status", 1);
  const answer = collect(stream);
  stream.send(encodePayload(status).subarray(0, 20));

  expect(await answer).toEqual({ bytes: Buffer.alloc(0), wasReset: true });
  expect(severities(impatient)).toEqual(["moderate"]);
});

it("a request takes effect even if the peer does not wait for the response", async () => {
  const guest = await startHost();
  const { handlers } = node;
  const before = handlers.status;
  const guestId = guest.peerId.toString();
  const noted = new Promise<string>((resolve) => {
    handlers.onStatus = (peerId) => resolve(peerId);
  });
  handlers.status = () => {
    for (const connection of node.host.getConnections(guest.peerId)) connection.abort(new Error("The guest is gone."));
    return before.call(handlers);
  };
  await guest.dial(node.host.getMultiaddrs());
  const stream = await openStream(guest, node.host, "status", 1);
  stream.send(encodePayload(status));
  await stream.close();
  expect(await noted).toBe(guestId);
  handlers.status = before;
  await guest.stop();
});

it("a peer that keeps sending after a refusal is reset", async () => {
  const stream = await openStream(stranger, node.host, "status", 1);
  const answer = collect(stream);
  const closed = new Promise<void>((resolve) => stream.addEventListener("close", () => resolve()));
  stream.send(Buffer.alloc(1 << 22, 0x80));

  expect((await answer).bytes[0]).toBe(1);
  await closed;
  expect(stream.status).toBe("reset");
});

it("too many concurrent requests of a peer are refused, other peers are served", async () => {
  const gate = Promise.withResolvers<void>();
  const { handlers } = node;
  const before = handlers.blocksByRange;
  handlers.blocksByRange = async function* (range) {
    await gate.promise;
    yield* before.call(handlers, range);
  };
  const codes: (number | undefined)[] = [];
  const threeAnswers = Promise.withResolvers<void>();
  const requests = Array.from({ length: 7 }, async () => {
    const { bytes } = await ask({ name: "beacon_blocks_by_range", version: 2 }, rangeRequest(1, 1));
    if (codes.push(bytes[0]) === 3) threeAnswers.resolve();
  });
  await threeAnswers.promise;
  expect(codes).toEqual([3, 3, 3]);
  gate.resolve();
  await Promise.all(requests);
  handlers.blocksByRange = before;

  expect(codes).toEqual([3, 3, 3, 0, 0, 0, 0]);
  expect(severities()).toEqual(["mild", "mild", "mild"]);
});

describe("at the limit of concurrent block requests,", () => {
  let crowded: TestNode;
  let honest: TestNode;
  let gate: PromiseWithResolvers<void>;
  let begun: PromiseWithResolvers<void>;

  async function startCrowded(maxDelayMs: number): Promise<void> {
    crowded = await startNode(phase0Blocks, { inboundTotal: 1, maxDelayMs });
    honest = await startNode(phase0Blocks);
    await Promise.all([stranger, honest.host].map((host) => host.dial(crowded.host.getMultiaddrs())));
    onTestFinished(async () => {
      await Promise.all([stopNode(crowded), stopNode(honest)]);
    });
    const { handlers } = crowded;
    const before = handlers.blocksByRange;
    gate = Promise.withResolvers();
    begun = Promise.withResolvers();
    handlers.blocksByRange = async function* (range) {
      begun.resolve();
      await gate.promise;
      yield* before.call(handlers, range);
    };
  }

  const askBlocks = (host: Host) =>
    openStream(host, crowded.host, "beacon_blocks_by_range", 2).then((stream) => {
      const answer = collect(stream);
      stream.send(rangeRequest(1, 1));
      void stream.close();
      return answer;
    });

  it("single messages are served at once, and other blocks are queued", async () => {
    await startCrowded(60_000);
    const first = askBlocks(stranger);
    await begun.promise;
    const next = askBlocks(honest.host);
    await honest.requests.status(crowded.peerId);
    await honest.requests.ping(crowded.peerId);
    await honest.requests.metadata(crowded.peerId);
    gate.resolve();
    expect((await first).bytes[0]).toBe(0);
    expect((await next).bytes[0]).toBe(0);
    expect(crowded.penalties).toEqual([]);
  });

  it("queued requests time out", async () => {
    await startCrowded(0);
    const first = askBlocks(stranger);
    await begun.promise;
    expect((await askBlocks(honest.host)).bytes[0]).toBe(3);
    gate.resolve();
    expect((await first).bytes[0]).toBe(0);
    expect(crowded.penalties).toEqual([]);
  });

  it("idle streams do not count", async () => {
    await startCrowded(0);
    gate.resolve();
    for (let index = 0; index < 3; index++) await openStream(stranger, crowded.host, "beacon_blocks_by_range", 2);
    expect((await askBlocks(honest.host)).bytes[0]).toBe(0);
  });
});

it("requests beyond the rate limit are refused", async () => {
  const codes: (number | undefined)[] = [];
  for (let index = 0; index <= BURST; index++) {
    codes.push((await ask({ name: "ping", version: 1 }, encodePayload(Buffer.alloc(8)))).bytes[0]);
  }

  expect(codes).toEqual([...Array(BURST).fill(0), 3]);
  expect(severities()).toEqual(["mild"]);
});

it("a peer that does not read times out, with bounded buffers", async () => {
  let produced = 0;
  const { handlers } = impatient;
  const before = handlers.blocksByRange;
  const large = { forkDigest: chunkOf(phase0Blocks[0]!).forkDigest, bytes: randomBytes(1 << 18) };
  handlers.blocksByRange = async function* () {
    for (; produced < 128; produced++) yield large;
  };
  const stream = await openStream(stranger, impatient.host, "beacon_blocks_by_range", 2);
  stream.pause();
  const closed = new Promise<void>((resolve) => stream.addEventListener("close", () => resolve()));
  stream.send(rangeRequest(1, 128));
  await stream.close();
  await closed;
  handlers.blocksByRange = before;

  expect(produced).toBeLessThan(8);
  expect(severities(impatient)).toEqual(["moderate"]);
});
