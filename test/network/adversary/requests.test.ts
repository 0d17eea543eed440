import { randomBytes } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { ssz } from "@lodestar/types";
import { compressSync } from "snappy";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Protocol, protocolId, servedProtocols } from "../../../src/network/reqresp/protocols.ts";
import { encodeFrames, encodePayload, encodeVarint } from "../../../src/network/reqresp/ssz-snappy.ts";
import { variants } from "../../support/suite/tier.ts";
import type { Adversary } from "./support/adversary.ts";
import { eventually, Scenario } from "./support/scenario.ts";

/** More than enough to be disconnected. Later ones are lost. */
const TIMES = 4;
const STATUS: Protocol = { name: "status", version: 1 };
const status = ssz.phase0.Status.serialize(ssz.phase0.Status.defaultValue());
const identifier = encodeFrames(new Uint8Array(0));

let scenario: Scenario;
beforeAll(async () => {
  scenario = await Scenario.begin({ victim: { requestLimits: { requestMs: 300, lingerMs: 200, maxDelayMs: 0 } } });
});
afterAll(async () => {
  const complaints = scenario.complaints();
  await scenario.end();
  expect(complaints).toEqual([]);
});

/** A snappy frame with any type, checksum and content. */
function frame(type: number, content: Uint8Array, checksum = 0): Buffer {
  const header = Buffer.alloc(8);
  header[0] = type;
  header.writeUIntLE(content.length + 4, 1, 3);
  header.writeUInt32LE(checksum, 4);
  return Buffer.concat([header, content]);
}

const withLength = (length: number, ...frames: Uint8Array[]) => Buffer.concat([encodeVarint(length), ...frames]);

const sendEach =
  (...requests: Uint8Array[]) =>
  async (adversary: Adversary) => {
    for (let i = 0; i < TIMES; i++) for (const request of requests) await adversary.ask(STATUS, request);
  };

const ATTACKS: [what: string, attack: (adversary: Adversary) => Promise<void>][] = [
  [
    "garbage on every protocol",
    async (adversary) => {
      for (const protocol of servedProtocols()) await adversary.ask(protocol, randomBytes(300));
    },
  ],
  [
    "lengths that are none, are too large, and are not those of the content",
    sendEach(
      Buffer.alloc(11, 0xff),
      withLength(2 ** 40, encodeFrames(status)),
      withLength(84, encodeFrames(status.subarray(1))),
      withLength(84, encodeFrames(Buffer.concat([status, status]))),
    ),
  ],
  [
    "snappy with a wrong checksum, without its identifier, with an unknown frame, and a bomb",
    sendEach(
      withLength(84, identifier, frame(0x01, status, 1)),
      withLength(84, frame(0x01, status)),
      withLength(84, identifier, frame(0x02, status)),
      withLength(84, identifier, frame(0x00, compressSync(Buffer.alloc(1 << 24)))),
    ),
  ],
  [
    "requests at and beyond what their type allows",
    async (adversary) => {
      for (const roots of [1024, 1025, 1 << 15]) {
        const request = withLength(32 * roots, identifier, frame(0x00, compressSync(Buffer.alloc(1 << 20))));
        for (let i = 0; i < TIMES; i++) await adversary.ask({ name: "beacon_blocks_by_root", version: 2 }, request);
      }
    },
  ],
  [
    "half a request, and then nothing",
    async (adversary) => {
      const half = encodePayload(status).subarray(0, 30);
      await Promise.all(servedProtocols().map((protocol) => adversary.ask(protocol, half, { end: false })));
    },
  ],
  [
    "more streams than anybody needs, and not a word on them",
    async (adversary) => {
      const ids = servedProtocols().flatMap((protocol) => Array(20).fill(protocolId(protocol)));
      await Promise.allSettled(ids.map(async (id) => adversary.openStream(id)));
    },
  ],
  [
    "requests without end",
    async (adversary) => {
      const ping = encodePayload(Buffer.alloc(8));
      while (scenario.isConnected(adversary)) {
        await setImmediate();
        await Promise.all(Array.from({ length: 12 }, () => adversary.ask({ name: "ping", version: 1 }, ping)));
      }
    },
  ],
];

describe("a peer that requests with", () => {
  it.concurrent.each(variants({ fast: ATTACKS.slice(0, 2), full: ATTACKS.slice(2) }))(
    "%s is disconnected, and the node continues",
    async (_what, attack) => {
      const adversary = await scenario.adversary();
      await attack(adversary);
      await scenario.expectSentAway(adversary);
      await scenario.expectFollowing();
    },
  );
});

it("streams of unknown protocols have no other cost", async () => {
  const adversary = await scenario.adversary();
  const streams = await Promise.allSettled(
    Array.from({ length: 300 }, async (_, i) => adversary.openStream(`/nobody/${i}`)),
  );
  expect(streams.every(({ status }) => status === "rejected")).toBe(true);
  const { host } = scenario.victim.networking.network;
  const open = () => host.getConnections(adversary.host.peerId).flatMap(({ streams }) => streams).length;
  await eventually(() => expect(open()).toBeLessThan(10));
  await scenario.expectFollowing();
});
