import { describe, expect, it } from "vitest";
import { Bonds, bondOf } from "./bonds.ts";
import { questionOf } from "./question.test-support.ts";

function bondOfBody(url: string, body: Buffer, contentType = "application/json") {
  return bondOf(questionOf({ url, body, contentType }).request);
}

describe("what requests belong to", () => {
  it("is read from the bodies of submissions, in JSON", () => {
    const vote = { aggregation_bits: "0x01", data: { slot: "77", index: "0" }, signature: "0x00" };
    const older = { ...vote, data: { slot: "76" } };
    for (const [url, body, subject] of [
      ["/eth/v1/beacon/pool/attestations", [vote], "attestation"],
      ["/eth/v2/beacon/pool/attestations", [{ committee_index: "1", ...vote }], "attestation"],
      ["/eth/v1/beacon/pool/sync_committees", [{ slot: "77" }], "sync committee"],
      ["/eth/v1/beacon/blocks", { message: { slot: "77" } }, "block"],
      ["/eth/v2/beacon/blocks?broadcast_validation=gossip", { signed_block: { message: { slot: "77" } } }, "block"],
      ["/eth/v2/beacon/blinded_blocks", { message: { slot: "77" } }, "block"],
      ["/eth/v2/beacon/blinded_blocks", { message: { body: { attestations: [older] }, slot: "77" } }, "block"],
    ] as const) {
      expect(bondOfBody(url, Buffer.from(JSON.stringify(body, null, 1)))).toEqual({ subject, slot: 77 });
    }
  });

  it("is read from blocks in SSZ, alone and with blobs", () => {
    const signedBlock = Buffer.alloc(300);
    signedBlock.writeUInt32LE(100, 0);
    signedBlock.writeBigUInt64LE(77n, 100);
    const places = Buffer.alloc(12);
    places.writeUInt32LE(12, 0);
    for (const body of [signedBlock, Buffer.concat([places, signedBlock])]) {
      const bond = bondOfBody("/eth/v2/beacon/blocks", body, "application/octet-stream");
      expect(bond).toEqual({ subject: "block", slot: 77 });
    }
  });

  it("is nothing where there is no slot, or nothing to belong to", () => {
    expect(bondOfBody("/eth/v2/beacon/blocks", Buffer.alloc(500), "application/octet-stream")).toBeUndefined();
    expect(bondOfBody("/eth/v2/beacon/blocks", Buffer.alloc(10), "application/octet-stream")).toBeUndefined();
    expect(bondOfBody("/eth/v2/beacon/blocks", Buffer.from('{"slot":"x"}'))).toBeUndefined();
    expect(bondOfBody("/eth/v1/beacon/pool/voluntary_exits", Buffer.from('{"slot":"7"}'))).toBeUndefined();
    expect(bondOf(questionOf({ url: "/eth/v1/validator/duties/proposer/7" }).request)).toBeUndefined();
  });

  it("is forgotten when many others came since", () => {
    const bonds = new Bonds();
    for (let slot = 0; slot < 300; slot++) bonds.tie({ subject: "block", slot }, "a");
    expect(bonds.upstreamOf({ subject: "block", slot: 0 })).toBeUndefined();
    expect(bonds.upstreamOf({ subject: "block", slot: 299 })).toBe("a");
  });
});
