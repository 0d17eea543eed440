import { fromHex, toRootHex } from "@lodestar/utils";
import { describe, expect, it } from "vitest";
import type { ExecutionBlock } from "./execution-block.ts";
import { type BlockReader, findTerminalBlock, judgeTerminalBlock } from "./terminal-block.ts";

const ZERO: Uint8Array = new Uint8Array(32);
const hashOf = (number: number) => toRootHex(new Uint8Array(32).fill(number + 1));

/** A chain with the given difficulties, starting at genesis. 0 stands for a proof-of-stake block. */
function chain(difficulties: number[], { tellsTotals = true } = {}): BlockReader {
  const blocks = difficulties.map((difficulty, number): ExecutionBlock => {
    const total = difficulties.slice(0, number + 1).reduce((sum, each) => sum + each, 0);
    return {
      hash: hashOf(number),
      parentHash: number === 0 ? toRootHex(ZERO) : hashOf(number - 1),
      number,
      difficulty: BigInt(difficulty),
      totalDifficulty: tellsTotals ? BigInt(total) : null,
    };
  });
  return {
    byHash: async (hash) => blocks.find((block) => block.hash === hash) ?? null,
    byNumber: async (number) => (number === "latest" ? blocks.at(-1) : blocks[number]) ?? null,
  };
}

const config = (ttd: bigint, hash = ZERO) => ({ TERMINAL_TOTAL_DIFFICULTY: ttd, TERMINAL_BLOCK_HASH: hash });

describe("the terminal block", () => {
  it("is the first to reach the total difficulty", async () => {
    const blocks = chain([1, 10, 10, 10, 0, 0]);
    const verdicts = [0, 1, 2, 3, 4, 5].map((number) => judgeTerminalBlock(hashOf(number), config(21n), blocks));
    expect(await Promise.all(verdicts)).toEqual([
      "not-terminal",
      "not-terminal",
      "terminal",
      "not-terminal",
      "not-terminal",
      "not-terminal",
    ]);
    expect(await findTerminalBlock(config(21n), blocks)).toEqual({ blockHash: fromHex(hashOf(2)), blockNumber: 2 });
    expect(await findTerminalBlock(config(32n), blocks)).toBeNull();
    expect(await judgeTerminalBlock(hashOf(9), config(21n), blocks)).toBe("unknown");
  });

  it("is genesis for a terminal difficulty of 0, with or without reported total difficulties", async () => {
    for (const blocks of [chain([1, 0, 0]), chain([0, 0], { tellsTotals: false })]) {
      expect(await judgeTerminalBlock(hashOf(0), config(0n), blocks)).toBe("terminal");
      expect(await judgeTerminalBlock(hashOf(1), config(0n), blocks)).toBe("not-terminal");
      expect(await findTerminalBlock(config(0n), blocks)).toEqual({ blockHash: fromHex(hashOf(0)), blockNumber: 0 });
    }
  });

  it("is the configured block, regardless of its difficulty", async () => {
    const blocks = chain([1, 10, 10]);
    const named = config(0n, fromHex(hashOf(1)));
    expect(await judgeTerminalBlock(hashOf(1), named, blocks)).toBe("terminal");
    expect(await judgeTerminalBlock(hashOf(0), named, blocks)).toBe("not-terminal");
    expect(await findTerminalBlock(named, blocks)).toMatchObject({ blockNumber: 1 });
    expect(await findTerminalBlock(config(0n, fromHex(hashOf(7))), blocks)).toBeNull();
  });

  it("is decided by its child without reported total difficulties", async () => {
    const blocks = chain([1, 10, 10, 0], { tellsTotals: false });
    const verdicts = [1, 2, 3].map((number) => judgeTerminalBlock(hashOf(number), config(21n), blocks));
    expect(await Promise.all(verdicts)).toEqual(["not-terminal", "terminal", "not-terminal"]);
    const unfinished = chain([1, 10, 10], { tellsTotals: false });
    expect(await judgeTerminalBlock(hashOf(2), config(21n), unfinished)).toBe("unknown");
    expect(await findTerminalBlock(config(21n), unfinished)).toBeNull();
  });
});
