import { ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  chainOfBlocks,
  FIRST_ELECTRA_SLOT,
  FIRST_FULU_SLOT,
  rootOf,
  sidecarOf,
  startNode,
  stopNode,
  type TestNode,
} from "../../../test/support/network/reqresp/hosts.ts";
import { type DataSidecar, slotOfSidecar } from "../../data/sidecar.ts";
import { ResourceUnavailable } from "./errors.ts";

/** Protocol ids from phase0, altair, deneb and fulu/p2p-interface.md, including the encoding. */
const SPECIFIED_IDS = [
  "/eth2/beacon_chain/req/status/1/ssz_snappy",
  "/eth2/beacon_chain/req/status/2/ssz_snappy",
  "/eth2/beacon_chain/req/goodbye/1/ssz_snappy",
  "/eth2/beacon_chain/req/ping/1/ssz_snappy",
  "/eth2/beacon_chain/req/metadata/1/ssz_snappy",
  "/eth2/beacon_chain/req/metadata/2/ssz_snappy",
  "/eth2/beacon_chain/req/metadata/3/ssz_snappy",
  "/eth2/beacon_chain/req/beacon_blocks_by_range/1/ssz_snappy",
  "/eth2/beacon_chain/req/beacon_blocks_by_range/2/ssz_snappy",
  "/eth2/beacon_chain/req/beacon_blocks_by_root/1/ssz_snappy",
  "/eth2/beacon_chain/req/beacon_blocks_by_root/2/ssz_snappy",
  "/eth2/beacon_chain/req/beacon_blocks_by_head/1/ssz_snappy",
  "/eth2/beacon_chain/req/blob_sidecars_by_range/1/ssz_snappy",
  "/eth2/beacon_chain/req/blob_sidecars_by_root/1/ssz_snappy",
  "/eth2/beacon_chain/req/data_column_sidecars_by_range/1/ssz_snappy",
  "/eth2/beacon_chain/req/data_column_sidecars_by_root/1/ssz_snappy",
  "/eth2/beacon_chain/req/execution_payload_envelopes_by_range/1/ssz_snappy",
  "/eth2/beacon_chain/req/execution_payload_envelopes_by_root/1/ssz_snappy",
];
const LAST_SLOT = FIRST_FULU_SLOT + 3;
const blocks = chainOfBlocks(LAST_SLOT);
const slots = (list: { message: { slot: number } }[]) => list.map(({ message }) => message.slot);

/** A slot and an index. */
type Place = [slot: number, index: number];
const BLOBS: Place[] = [
  [FIRST_ELECTRA_SLOT, 0],
  [FIRST_ELECTRA_SLOT + 1, 0],
  [FIRST_ELECTRA_SLOT + 1, 1],
];
const COLUMNS: Place[] = [
  [FIRST_FULU_SLOT, 3],
  [FIRST_FULU_SLOT, 5],
  [FIRST_FULU_SLOT + 1, 3],
  [FIRST_FULU_SLOT + 1, 127],
];
const places = (list: DataSidecar[]): Place[] => list.map((sidecar) => [slotOfSidecar(sidecar), sidecar.index]);

let requester: TestNode;
let responder: TestNode;

beforeAll(async () => {
  [requester, responder] = await Promise.all([startNode([]), startNode(blocks)]);
  responder.handlers.sidecars.push(
    ...[...BLOBS, ...COLUMNS].map(([slot, index]) => sidecarOf(blocks[slot - 1]!, index)),
  );
  await requester.host.dial(responder.host.getMultiaddrs());
});

afterAll(async () => {
  await Promise.all([stopNode(requester), stopNode(responder)]);
  expect([...requester.penalties, ...responder.penalties]).toEqual([]);
});

/** Sets the clock of the requesting node to an epoch, whose fork determines the versions. */
async function atEpoch<T>(epoch: number, work: () => Promise<T>): Promise<T> {
  const { currentEpoch } = requester.clock;
  requester.clock.currentEpoch = epoch;
  try {
    return await work();
  } finally {
    requester.clock.currentEpoch = currentEpoch;
  }
}

describe("two nodes", () => {
  it("serve the protocol ids of the specification", () => {
    const served = responder.host.getProtocols().filter((id) => id.startsWith("/eth2/"));
    expect(served.sort()).toEqual([...SPECIFIED_IDS].sort());
  });

  it("exchange their status", async () => {
    responder.handlers.received.length = 0;

    const status = await requester.requests.status(responder.peerId);

    expect(ssz.fulu.Status.equals(status, responder.handlers.status())).toBe(true);
    expect(responder.handlers.received).toEqual([
      { peerId: requester.peerId, headSlot: 1234, earliestAvailableSlot: 5 },
    ]);
  });

  it("exchange a status without the earliest available slot before fulu", async () => {
    responder.handlers.received.length = 0;

    const status = await atEpoch(0, () => requester.requests.status(responder.peerId));

    expect(status).toMatchObject({ headSlot: 1234, earliestAvailableSlot: 0 });
    expect(responder.handlers.received).toEqual([
      { peerId: requester.peerId, headSlot: 1234, earliestAvailableSlot: 0 },
    ]);
  });

  it("exchange their metadata sequence numbers", async () => {
    responder.handlers.received.length = 0;

    expect(await requester.requests.ping(responder.peerId)).toBe(2n ** 60n + 1n);
    expect(responder.handlers.received).toEqual([{ peerId: requester.peerId, sequence: 2n ** 60n + 1n }]);
  });

  it("exchange metadata in the format of the fork", async () => {
    const { seqNumber, attnets, syncnets } = responder.handlers.metadata();

    expect(await requester.requests.metadata(responder.peerId)).toEqual(responder.handlers.metadata());
    expect(await atEpoch(0, () => requester.requests.metadata(responder.peerId))).toEqual({
      seqNumber,
      attnets,
      syncnets,
      custodyGroupCount: 0,
    });
  });

  it("say goodbye", async () => {
    responder.handlers.received.length = 0;

    await requester.requests.goodbye(responder.peerId, 3n);

    expect(responder.handlers.received).toEqual([{ peerId: requester.peerId, reason: 3n }]);
  });

  it("exchange ranges of blocks of all forks", async () => {
    const received = await requester.requests.blocksByRange(responder.peerId, { startSlot: 2, count: LAST_SLOT });

    expect(received.map(rootOf)).toEqual(blocks.slice(1).map(rootOf));
    expect(await requester.requests.blocksByRange(responder.peerId, { startSlot: 1000, count: 5 })).toEqual([]);
  });

  it("exchange available blocks by root", async () => {
    const wanted = [blocks[30], blocks[3], blocks[20]].map((block) => toRootHex(rootOf(block!)));
    const unknown = `0x${"ee".repeat(32)}`;

    const received = await requester.requests.blocksByRoot(responder.peerId, [...wanted, unknown, wanted[0]!]);

    expect(slots(received)).toEqual([31, 4, 21]);
    expect(await requester.requests.blocksByRoot(responder.peerId, [])).toEqual([]);
  });

  it("exchange a block and its ancestors in descending order", async () => {
    const root = toRootHex(rootOf(blocks[25]!));
    const received = await requester.requests.blocksByHead(responder.peerId, { root, count: 12 });

    expect(slots(received)).toEqual([26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15]);
    const unknown = { root: `0x${"ee".repeat(32)}`, count: 12 };
    expect(await requester.requests.blocksByHead(responder.peerId, unknown)).toEqual([]);
  });

  it("exchange blob sidecars", async () => {
    const { requests } = requester;
    const received: DataSidecar[] = [];
    const onSidecar = (sidecar: DataSidecar) => received.push(sidecar);
    const all = await requests.blobSidecarsByRange(
      responder.peerId,
      { startSlot: 1, count: 100 },
      undefined,
      onSidecar,
    );
    expect(places(all)).toEqual(BLOBS);
    expect(received).toEqual(all);
    expect(
      places(await requests.blobSidecarsByRange(responder.peerId, { startSlot: FIRST_FULU_SLOT, count: 4 })),
    ).toEqual([]);
    const root = toRootHex(rootOf(blocks[FIRST_ELECTRA_SLOT]!));
    const wanted = [
      { root: `0x${"ee".repeat(32)}`, indices: [0] },
      { root, indices: [1, 5] },
    ];
    expect(places(await requests.blobSidecarsByRoot(responder.peerId, wanted))).toEqual([[FIRST_ELECTRA_SLOT + 1, 1]]);
    expect(await requests.blobSidecarsByRoot(responder.peerId, [])).toEqual([]);
  });

  it("exchange requested columns", async () => {
    const { requests } = requester;
    const range = { startSlot: FIRST_ELECTRA_SLOT, count: 100 };
    expect(places(await requests.columnSidecarsByRange(responder.peerId, range, [3, 64, 127]))).toEqual(
      COLUMNS.filter(([, column]) => column !== 5),
    );
    const root = toRootHex(rootOf(blocks[FIRST_FULU_SLOT]!));
    expect(places(await requests.columnSidecarsByRoot(responder.peerId, [{ root, indices: [127, 4] }]))).toEqual([
      [FIRST_FULU_SLOT + 1, 127],
    ]);
    expect(await requests.columnSidecarsByRange(responder.peerId, range, [])).toEqual([]);
  });

  it("refuse blocks that are unavailable", async () => {
    const { handlers } = responder;
    const before = handlers.blocksByRange;
    handlers.blocksByRange = () => {
      throw new ResourceUnavailable("This node holds no blocks before slot 7.");
    };
    await expect(requester.requests.blocksByRange(responder.peerId, { startSlot: 1, count: 1 })).rejects.toMatchObject({
      name: "RequestError",
      failure: "refused",
      code: 3,
      message: expect.stringContaining("before slot 7"),
    });
    handlers.blocksByRange = before;
  });

  it("send at most two concurrent requests per protocol", async () => {
    let under = 0;
    let most = 0;
    const { handlers } = responder;
    const before = handlers.blocksByRange;
    handlers.blocksByRange = async function* (range) {
      most = Math.max(most, ++under);
      yield* before.call(handlers, range);
      under--;
    };
    const received = await Promise.all(
      [1, 2, 3, 4, 5, 6].map((startSlot) =>
        requester.requests.blocksByRange(responder.peerId, { startSlot, count: 10 }),
      ),
    );
    handlers.blocksByRange = before;

    expect(most).toBe(2);
    expect(received.map((list) => list[0]?.message.slot)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("reject a request for too many blocks", async () => {
    await expect(requester.requests.blocksByRange(responder.peerId, { startSlot: 1, count: 129 })).rejects.toThrow(
      "128",
    );
  });
});
