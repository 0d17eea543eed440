import { expect, it } from "vitest";
import { openMerger } from "../../../test/support/gateway/events/event-merger.ts";
import { hexOf, type StreamingUpstream } from "../../../test/support/gateway/events/streaming-upstream.ts";

// docs/reference/beacon-clients.md has the source.
it("publishes a blob sidecar once if Prysm announces it with other members", async () => {
  const { upstreams, read } = await openMerger("prysm", "other");
  const [prysm, other] = upstreams as [StreamingUpstream, StreamingUpstream];
  const announced = read(["blob_sidecar"]);
  await Promise.all([prysm.connected(2), other.connected(2)]);
  const sidecar = (index: string) => ({ block_root: hexOf(3), index, slot: "5", kzg_commitment: "0x82" });
  const ofPrysm = { ...sidecar("0"), block_parent_root: "0x", proposer_index: "", blob: "0x", kzg_proof: "0x" };
  prysm.publish("blob_sidecar", ofPrysm);
  expect(await announced.next()).toEqual({ topic: "blob_sidecar", value: ofPrysm });
  other.publish("blob_sidecar", { ...sidecar("0"), versioned_hash: "0x01" });
  other.publish("blob_sidecar", { ...sidecar("1"), versioned_hash: "0x02" });
  expect(await announced.next()).toMatchObject({ value: { index: "1" } });
});
