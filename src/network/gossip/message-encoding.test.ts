import { createHash } from "node:crypto";
import { createBeaconConfig } from "@lodestar/config";
import { ForkName } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import { compressSync, uncompressSync } from "snappy";
import { describe, expect, it } from "vitest";
import { devChainConfig } from "../../dev/chain-config.ts";
import { maxCompressedLength } from "../snappy-length.ts";
import { createMessageId, createSnappyTransform, fastMessageId } from "./message-encoding.ts";
import { messageType, sizeBounds } from "./message-types.ts";
import { GossipTopics, type TopicKind } from "./topics.ts";

const forks = [{ fork: "altair", epoch: 1 } as const];
const config = createBeaconConfig(devChainConfig({ forks, slotSeconds: 2, genesisTime: 0 }), new Uint8Array(32));
const topics = new GossipTopics(config);
const EXIT_BYTES = ssz.phase0.SignedVoluntaryExit.fixedSize!;

describe("message ids", () => {
  const data = new Uint8Array(EXIT_BYTES).fill(9);
  const id = createMessageId(topics);

  it("cover only the data in phase0", () => {
    const topic = topics.at(0, "voluntary_exit")!.name;
    const expected = createHash("sha256").update(Buffer.from("01000000", "hex")).update(data).digest();
    expect(Buffer.from(id({ topic, data })).toString("hex")).toBe(expected.toString("hex").slice(0, 40));
  });

  it("also cover the topic and its length since altair", () => {
    const topic = topics.at(1, "voluntary_exit")!.name;
    const length = Buffer.from([topic.length, 0, 0, 0, 0, 0, 0, 0]);
    const message = Buffer.concat([Buffer.from("01000000", "hex"), length, Buffer.from(topic), data]);
    const expected = createHash("sha256").update(message).digest("hex").slice(0, 40);
    expect(Buffer.from(id({ topic, data })).toString("hex")).toBe(expected);
  });

  it("in their fast form distinguish topics and data", () => {
    const ids = [
      fastMessageId({ topic: "a", data }),
      fastMessageId({ topic: "b", data }),
      fastMessageId({ topic: "a", data: data.subarray(1) }),
      fastMessageId({ topic: "a" }),
    ];
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe("compression", () => {
  const transform = createSnappyTransform(topics, config);
  const exits = topics.at(0, "voluntary_exit")!.name;
  const blocks = topics.at(0, "beacon_block")!.name;

  it("round-trips, and is compatible with other implementations", () => {
    const data = Uint8Array.from({ length: EXIT_BYTES }, (_, i) => i);
    const compressed = transform.outboundTransform(exits, data);
    expect(new Uint8Array(uncompressSync(compressed, { asBuffer: true }) as Buffer)).toEqual(data);
    expect(transform.inboundTransform(exits, compressed)).toEqual(data);
  });

  const announcing = (length: number[], rest: Uint8Array = new Uint8Array()) => Uint8Array.of(...length, ...rest);
  it.each<[string, string, Uint8Array]>([
    ["of an unknown topic", "/eth2/01020304/voluntary_exit/ssz_snappy", compressSync(new Uint8Array(EXIT_BYTES))],
    ["of zero bytes", exits, new Uint8Array()],
    ["too long by a byte", exits, compressSync(new Uint8Array(EXIT_BYTES + 1))],
    ["too short by a byte", exits, compressSync(new Uint8Array(EXIT_BYTES - 1))],
    ["with a length of 4 GiB", blocks, announcing([0xff, 0xff, 0xff, 0xff, 0x0f], new Uint8Array(400))],
    ["with an endless varint", blocks, new Uint8Array(100).fill(0xff)],
    ["that is too large compressed", exits, compressedTo(maxCompressedLength(EXIT_BYTES) + 1)],
    ["shorter than its length", exits, announcing([EXIT_BYTES], Uint8Array.of(0, 1))],
  ])("refuses a message %s", (_, topic, message) => {
    expect(() => transform.inboundTransform(topic, new Uint8Array(message))).toThrow();
  });

  /** Returns a message of the given compressed size with a valid length header. */
  function compressedTo(size: number): Uint8Array {
    const message = new Uint8Array(size);
    message[0] = EXIT_BYTES;
    return message;
  }
});

describe("sizes", () => {
  const chainConfig = devChainConfig({ forks: [{ fork: "fulu", epoch: 2 }], slotSeconds: 2, genesisTime: 0 });
  const BLOB_SCHEDULE = [{ EPOCH: 8, MAX_BLOBS_PER_BLOCK: 21 }];
  const config = createBeaconConfig({ ...chainConfig, BLOB_SCHEDULE }, new Uint8Array(32));
  const boundsOf = (kind: TopicKind, fork: ForkName, epoch = 0) =>
    sizeBounds({ kind, boundary: { fork, epoch } }, config);

  it("are those of the fork's type, up to MAX_PAYLOAD_SIZE", () => {
    expect(boundsOf("voluntary_exit", ForkName.phase0)).toEqual({ min: 112, max: 112 });
    // A SingleAttestation consists of two indices, the data and the signature (electra/beacon-chain.md).
    expect(boundsOf("beacon_attestation", ForkName.electra)).toEqual({ min: 240, max: 240 });
    expect(boundsOf("beacon_attestation", ForkName.deneb).min).toBe(4 + 128 + 96 + 1);
    expect(boundsOf("beacon_block", ForkName.bellatrix).max).toBe(10_485_760);
    expect(boundsOf("beacon_block", ForkName.phase0).max).toBeLessThan(10_485_760);
    const { min, max } = boundsOf("blob_sidecar", ForkName.deneb);
    expect(min).toBe(max);
    expect(max).toBeGreaterThan(131_072);
  });

  it("of columns follow the blob parameters", () => {
    const sidecar = ssz.fulu.DataColumnSidecar.defaultValue();
    const withBlobs = (count: number) =>
      ssz.fulu.DataColumnSidecar.serialize({
        ...sidecar,
        column: Array(count).fill(new Uint8Array(2048)),
        kzgCommitments: Array(count).fill(new Uint8Array(48)),
        kzgProofs: Array(count).fill(new Uint8Array(48)),
      }).length;
    for (const [epoch, count] of [
      [7, 9],
      [8, 21],
    ] as const) {
      expect(boundsOf("data_column_sidecar", ForkName.fulu, epoch)).toEqual({
        min: withBlobs(0),
        max: withBlobs(count),
      });
    }
  });

  it("include the smallest block of each fork", () => {
    for (const fork of [ForkName.phase0, ForkName.altair, ForkName.capella, ForkName.electra, ForkName.fulu]) {
      const type = messageType("beacon_block", fork);
      const { length } = type.serialize(type.defaultValue());
      expect(boundsOf("beacon_block", fork).min).toBe(length);
    }
  });
});
