import { describe, expect, it } from "vitest";
import { createCall } from "../../../../test/support/gateway/upstream/upstream-call.ts";
import { routeKeyOf, StickyRoutes } from "./sticky-routes.ts";

function bondOfBody(url: string, body: Buffer, contentType = "application/json") {
  return routeKeyOf(createCall({ url, body, contentType }).request);
}

describe("route keys", () => {
  it("are read from submissions in JSON", () => {
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

  it("are read from SSZ blocks with and without blobs", () => {
    const signedBlock = Buffer.alloc(300);
    signedBlock.writeUInt32LE(100, 0);
    signedBlock.writeBigUInt64LE(77n, 100);
    const places = Buffer.alloc(12);
    places.writeUInt32LE(12, 0);
    for (const body of [signedBlock, Buffer.concat([places, signedBlock])]) {
      const routeKey = bondOfBody("/eth/v2/beacon/blocks", body, "application/octet-stream");
      expect(routeKey).toEqual({ subject: "block", slot: 77 });
    }
  });

  it("are undefined without a slot or related requests", () => {
    expect(bondOfBody("/eth/v2/beacon/blocks", Buffer.alloc(500), "application/octet-stream")).toBeUndefined();
    expect(bondOfBody("/eth/v2/beacon/blocks", Buffer.alloc(10), "application/octet-stream")).toBeUndefined();
    expect(bondOfBody("/eth/v2/beacon/blocks", Buffer.from('{"slot":"x"}'))).toBeUndefined();
    expect(bondOfBody("/eth/v1/beacon/pool/voluntary_exits", Buffer.from('{"slot":"7"}'))).toBeUndefined();
    expect(routeKeyOf(createCall({ url: "/eth/v1/validator/duties/proposer/7" }).request)).toBeUndefined();
  });

  it("are evicted when there are too many", () => {
    const stickyRoutes = new StickyRoutes();
    for (let slot = 0; slot < 300; slot++) stickyRoutes.pin({ subject: "block", slot }, "a");
    expect(stickyRoutes.get({ subject: "block", slot: 0 })).toBeUndefined();
    expect(stickyRoutes.get({ subject: "block", slot: 299 })).toBe("a");
  });
});
