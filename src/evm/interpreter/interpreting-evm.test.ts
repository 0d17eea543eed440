import { describe, expect, it } from "vitest";
import { compareInterpreters, openMachines } from "../../../test/support/evm/interpreters.ts";
import { randomProgram } from "../../../test/support/evm/random-program.ts";
import { EXECUTION_FORKS } from "../execution/forks.ts";

const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, "hex"));

const PROGRAMS = 900;

describe("the interpreter has the results of the EVM library", () => {
  const CASES: Record<string, string> = {
    "empty code": "",
    "code that ends within a PUSH": "6001600261ab",
    "stack underflow": "01",
    "stack overflow": `${"5f".repeat(1025)}`,
    "full stack": `${"5f".repeat(1024)}00`,
    "unknown opcode": "0c",
    "jump into a PUSH": "6004565b605b5b00",
    "jump beyond the code": "63ffffffff56",
    "jump to a huge position": `7f${"ff".repeat(32)}56`,
    "endless loop": "5b5f56",
    "memory at a huge offset": `7f${"ff".repeat(32)}51`,
    "no memory at a huge offset": `5f7f${"ff".repeat(32)}20`,
    "memory growth": "600163000fffff5260206000f3",
    "return data out of bounds": "600160003e",
    "write in a static call": "6001600255",
    "revert with data": "63deadbeef5f526004601cfd",
    "call with no output at a huge offset": `5f7f${"ff".repeat(32)}5f5f5f60c25af1`,
    "message to itself, which uses up the depth": "5f5f5f5f5f305af15a5f5260205ff3",
  };

  it.each(Object.entries(CASES))("%s", async (_, code) => {
    const machines = await openMachines("osaka");
    await compareInterpreters(machines, { code: bytes(code) });
    await compareInterpreters(machines, { code: bytes(code), isStatic: true });
    await compareInterpreters(machines, { code: bytes(code), gasLimit: 30n });
  });

  it.each(EXECUTION_FORKS)("random programs of %s", async (fork) => {
    const machines = await openMachines(fork);
    const halts = new Set<string>();
    for (let seed = 1; seed <= PROGRAMS / EXECUTION_FORKS.length; seed++) {
      halts.add(
        (await compareInterpreters(
          machines,
          randomProgram(seed, { isAmsterdam: fork === "amsterdam" }),
          `program ${seed}`,
        )) ?? "none",
      );
    }
    expect([...halts]).toEqual(expect.arrayContaining(["none", "out of gas", "revert", "invalid opcode"]));
  });
});
