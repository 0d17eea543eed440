import { describe, expect, it } from "vitest";
import { SampleSidecars } from "../../../test/support/chain/data/sidecars.ts";
import { DataPool } from "./data-pool.ts";

const CELL_BYTES = 2048;

function openPool({ blocks = 3, cells = 100, blocksPerProposal = 2 } = {}) {
  const awaited = new Set<string>();
  const limits = { blocks, bytes: cells * CELL_BYTES, blocksPerProposal };
  const pool = new DataPool({ limits, isAwaited: (root) => awaited.has(root) });
  const add = (block: SampleSidecars, ...columns: number[]) =>
    pool.add(
      block,
      columns.map((column) => block.column(column)),
    );
  return { pool, awaited, add };
}

const blockOf = (slot: number, mark = 0) => new SampleSidecars({ slot, mark });

describe("DataPool", () => {
  it("stores sidecars by block and index, counts them once and deletes them", () => {
    const { pool, add } = openPool();
    const block = blockOf(5);
    const added: string[] = [];
    const stop = pool.onAdded((root) => added.push(root));
    add(block, 9, 2);
    add(block, 2);
    stop();
    add(block, 4);
    expect(pool.all(block.root).map(({ index }) => index)).toEqual([2, 4, 9]);
    expect(pool.size).toEqual({ blocks: 1, bytes: 3 * CELL_BYTES });
    expect([pool.has(block.root, 9), pool.has(block.root, 3), pool.get(block.root, 4)?.index]).toEqual([
      true,
      false,
      4,
    ]);
    expect(added).toEqual([block.root, block.root]);

    pool.delete(block.root, [block.column(9), block.column(77)]);
    expect(pool.size).toEqual({ blocks: 1, bytes: 2 * CELL_BYTES });
    pool.delete(block.root);
    expect(pool.size).toEqual({ blocks: 0, bytes: 0 });
  });

  it("evicts the blocks least recently extended, but none that is awaited", () => {
    const { pool, awaited, add } = openPool();
    const [a, b, c, d, e] = [10, 9, 8, 7, 6].map((slot) => blockOf(slot));
    awaited.add(a!.root);
    for (const block of [a, b, c]) add(block!, 0);
    add(b!, 1);
    add(d!, 0);
    expect([a, b, c, d].map((block) => pool.count(block!.root))).toEqual([1, 2, 0, 1]);
    add(e!, 0);
    expect([a, b, d, e].map((block) => pool.count(block!.root))).toEqual([1, 0, 1, 1]);
  });

  it("limits bytes, except for the newest block", () => {
    const { pool, add } = openPool({ cells: 4 });
    const [a, b] = [blockOf(1), blockOf(2)];
    add(a, 0, 1, 2);
    add(b, 0);
    expect(pool.size).toEqual({ blocks: 2, bytes: 4 * CELL_BYTES });
    add(b, 1, 2, 3, 4);
    expect(pool.size).toEqual({ blocks: 1, bytes: 5 * CELL_BYTES });
  });

  it("limits blocks per proposer and slot, without evicting others", () => {
    const { pool, awaited, add } = openPool({ blocks: 4 });
    const other = blockOf(4);
    add(other, 0);
    const many = [0, 1, 2, 3, 4].map((mark) => blockOf(5, mark));
    awaited.add(many[0]!.root);
    for (const block of many) add(block, 0);
    expect(many.map(({ root }) => pool.count(root))).toEqual([1, 0, 0, 0, 1]);
    expect(pool.count(other.root)).toBe(1);
  });

  it("prunes by slot and restores a snapshot without notifying listeners", () => {
    const { pool, add } = openPool();
    const [a, b] = [blockOf(3), blockOf(4)];
    add(a, 0);
    add(b, 0, 1);
    const captured = pool.capture();
    pool.prune(4);
    expect([pool.count(a.root), pool.count(b.root)]).toEqual([0, 2]);
    pool.delete(b.root, [b.column(1)]);
    const added: string[] = [];
    pool.onAdded((root) => added.push(root));
    pool.restore(captured);
    expect(pool.capture()).toEqual(captured);
    expect(pool.size).toEqual({ blocks: 2, bytes: 3 * CELL_BYTES });
    expect(added).toEqual([]);
  });
});
