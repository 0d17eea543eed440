import { expect, it } from "vitest";
import { SampleSidecars } from "../../../test/support/chain/data/sidecars.ts";
import { serializeSidecar } from "../../data/sidecar.ts";
import { readStoredSidecar } from "./stored-sidecar.ts";

const DB = { path: "/somewhere" };

it("reads blob and column sidecars and rejects mismatched ones", () => {
  const block = new SampleSidecars({ slot: 5 });
  const other = new SampleSidecars({ slot: 6 });
  for (const sidecar of [block.blob(3), block.column(3)]) {
    const bytes = serializeSidecar(sidecar);
    const stored = readStoredSidecar(DB, { root: block.root, index: 3 }, bytes);
    expect(Buffer.compare(serializeSidecar(stored), bytes)).toBe(0);
    const read = (root: string, index: number) => () => readStoredSidecar(DB, { root, index }, bytes);
    expect(read(block.root, 4)).toThrow(`sidecar 4 of block ${block.root} is stored as sidecar 3`);
    expect(read(other.root, 3)).toThrow(`is stored as sidecar 3 of block ${block.root}`);
  }
  const cut = serializeSidecar(block.column(3)).subarray(0, 300);
  expect(() => readStoredSidecar(DB, { root: block.root, index: 3 }, cut)).toThrow("cannot be decoded");
});
