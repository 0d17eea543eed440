import { expect, it } from "vitest";
import { memoryLimits, memoryProblem } from "./validator-memory.ts";

const GIB = 2 ** 30;

it("limits the validators by the memory of the machine, or by the heap if it is smaller", () => {
  expect(memoryProblem(131_072, { processBytes: GIB, heapBytes: GIB })).toBeUndefined();
  expect(memoryProblem(131_073, { processBytes: GIB, heapBytes: GIB })).toBe("131072 fit into the memory of 1 GiB");
  const large = { processBytes: 64 * GIB, heapBytes: 4.25 * GIB };
  expect(memoryProblem(1_000_000, large)).toBeUndefined();
  expect(memoryProblem(10 ** 9, large)).toBe(
    "1485482 fit into the heap of 4.3 GiB, which Node's option --max-old-space-size raises",
  );
});

it("reads finite limits of this process", () => {
  const { processBytes, heapBytes } = memoryLimits();
  for (const bytes of [processBytes, heapBytes]) {
    expect(bytes).toBeGreaterThan(0.1 * GIB);
    expect(bytes).toBeLessThan(2 ** 50);
  }
});
