import { fromHex, toRootHex } from "@lodestar/utils";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import {
  chainOfBlocks,
  envelopeOf,
  FIRST_FULU_SLOT,
  FIRST_GLOAS_SLOT,
  payloadChunkOf,
  rootOf,
  startNode,
  stopNode,
  type TestNode,
} from "../../../test/support/network/reqresp/hosts.ts";
import type { ResponseChunk } from "./response-chunk.ts";

const LAST_SLOT = FIRST_GLOAS_SLOT + 4;
const blocks = chainOfBlocks(LAST_SLOT);
/** The payload of the second block was not revealed. */
const payloads = blocks
  .slice(FIRST_GLOAS_SLOT - 1)
  .filter((_, index) => index !== 1)
  .map(envelopeOf);
const root = (slot: number) => toRootHex(rootOf(blocks[slot - 1]!));
const slots = (envelopes: readonly ReturnType<typeof envelopeOf>[]) =>
  envelopes.map(({ message }) => message.payload.slotNumber - FIRST_GLOAS_SLOT);
const WHOLE = { startSlot: FIRST_GLOAS_SLOT, count: 5 };

let requester: TestNode;
let responder: TestNode;
beforeAll(async () => {
  [requester, responder] = await Promise.all([startNode([]), startNode(blocks)]);
  await requester.host.dial(responder.host.getMultiaddrs());
});
beforeEach(() => {
  responder.handlers.payloads.splice(0, Number.POSITIVE_INFINITY, ...payloads);
});
afterAll(() => Promise.all([stopNode(requester), stopNode(responder)]));

it("payloads are requested by range and by root", async () => {
  const { requests } = requester;
  expect(slots(await requests.payloadsByRange(responder.peerId, WHOLE))).toEqual([0, 2, 3, 4]);
  expect(slots(await requests.payloadsByRange(responder.peerId, { ...WHOLE, count: 2 }))).toEqual([0]);
  const roots = [root(FIRST_GLOAS_SLOT + 3), root(FIRST_GLOAS_SLOT + 1), root(FIRST_GLOAS_SLOT)];
  expect(slots(await requests.payloadsByRoot(responder.peerId, roots))).toEqual([3, 0]);
  expect([...requester.penalties, ...responder.penalties]).toEqual([]);
});

const RESPONSES: [what: string, chunks: () => ResponseChunk[]][] = [
  ["that are not in ascending order", () => [payloads[1]!, payloads[0]!].map(payloadChunkOf)],
  ["twice", () => [payloads[0]!, payloads[0]!].map(payloadChunkOf)],
  ["outside the range", () => [payloadChunkOf({ ...payloads[0]!, message: atSlot(LAST_SLOT + 1) })]],
  ["with the fork digest of other blocks", () => [{ ...payloadChunkOf(payloads[0]!), forkDigest: digestOfFulu() }]],
  ["that cannot be decoded", () => [{ ...payloadChunkOf(payloads[0]!), bytes: new Uint8Array(800) }]],
];

const atSlot = (slotNumber: number) => {
  const { message } = payloads[0]!;
  return { ...message, payload: { ...message.payload, slotNumber } };
};
const digestOfFulu = () => payloadChunkOf({ ...payloads[0]!, message: atSlot(FIRST_FULU_SLOT) }).forkDigest;

it.each(RESPONSES)("a peer that serves payloads %s is penalized", async (_, chunks) => {
  const before = requester.penalties.length;
  const { payloadsByRange } = responder.handlers;
  responder.handlers.payloadsByRange = async function* () {
    yield* chunks();
  };
  const request = requester.requests.payloadsByRange(responder.peerId, WHOLE);
  await expect(request).rejects.toMatchObject({ failure: "malformed" });
  responder.handlers.payloadsByRange = payloadsByRange;
  expect(requester.penalties.length).toBe(before + 1);
});

it("a payload that was not requested by root is refused, and more than 128 roots cannot be requested", async () => {
  responder.handlers.payloadsByRoot = async function* () {
    yield payloadChunkOf(payloads[2]!);
  };
  const { requests } = requester;
  const request = requests.payloadsByRoot(responder.peerId, [root(FIRST_GLOAS_SLOT)]);
  await expect(request).rejects.toMatchObject({ failure: "malformed" });
  const roots = Array.from({ length: 129 }, (_, index) => toRootHex(fromHex(`0x${String(index).padStart(64, "0")}`)));
  await expect((async () => requests.payloadsByRoot(responder.peerId, roots))()).rejects.toThrow(/maximum is 128/);
});
