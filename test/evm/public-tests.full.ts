import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { type BlockchainTest, rulesOf, runBlockchainTest, runStateTest, type StateTest } from "./public-tests.ts";

/**
 * Directory with JSON files of ethereum/tests (BlockchainTests) or execution-spec-tests (blockchain_tests and
 * state_tests). They are too large to be part of the repository.
 */
const DIRECTORY = process.env.FANAL_EXECUTION_TESTS;

type AnyTest = BlockchainTest | StateTest;

describe.skipIf(DIRECTORY === undefined)("public execution tests (FANAL_EXECUTION_TESTS names their directory)", () => {
  const files = DIRECTORY === undefined ? [] : readdirSync(DIRECTORY, { recursive: true, encoding: "utf8" });
  const json = files.filter((name) => name.endsWith(".json") && !name.includes(".meta"));

  it.each(json)("%s", async (name) => {
    const path = join(DIRECTORY!, name);
    const tests = Object.entries(JSON.parse(readFileSync(path, "utf8")) as Record<string, AnyTest>);
    const faults: string[] = [];
    for (const [title, content] of tests) {
      const fault = await faultOf(content);
      if (fault !== undefined) faults.push(`${relative(DIRECTORY!, path)} ${title}: ${fault}`);
    }
    expect(faults).toEqual([]);
  });
});

async function faultOf(content: AnyTest): Promise<string | undefined> {
  if ("post" in content) return (await runStateTest(content)).fault;
  return rulesOf(content.network) === undefined ? undefined : runBlockchainTest(content);
}
