import { expect, it } from "vitest";
import { type ScrollState, scrolledTo, scrollHeight } from "../../src/web/virtual-rows.ts";

const TOP: ScrollState = { first: 0, scrollTop: 0 };
const view = { viewHeight: 320, visibleRows: 10, rowHeight: 32 };

it("maps pixels to rows", () => {
  expect(scrollHeight(100, 32)).toBe(3200);
  expect(scrolledTo(TOP, { ...view, rows: 100, scrollTop: 64 }).first).toBeCloseTo(2);
  expect(scrolledTo(TOP, { ...view, rows: 100, scrollTop: 2880 }).first).toBe(90);
  expect(scrolledTo(TOP, { ...view, rows: 5, scrollTop: 0 }).first).toBe(0);
});

it("reaches every row of a list that is taller than browsers allow", () => {
  const rows = 2_000_000;
  const height = scrollHeight(rows, 32);
  expect(height).toBeLessThan(17_000_000);
  const middle = scrolledTo(TOP, { ...view, rows, scrollTop: (height - 320) / 2 });
  expect(middle.first).toBeCloseTo((rows - 10) / 2);
  // A small movement scrolls by rows, not by the share of the list.
  const next = scrolledTo(middle, { ...view, rows, scrollTop: middle.scrollTop + 64 });
  expect(next.first - middle.first).toBeCloseTo(2);
  expect(scrolledTo(next, { ...view, rows, scrollTop: height - 320 }).first).toBe(rows - 10);
  expect(scrolledTo(next, { ...view, rows, scrollTop: 0 }).first).toBe(0);
});
