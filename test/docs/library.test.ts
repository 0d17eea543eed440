import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { generateChainHelpers } from "../../scripts/library-options/chain-helpers.ts";
import type { Client } from "../../src/client/index.ts";
import { chainActions } from "../../src/library/chain-actions.ts";

const ROOT = join(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

it("docs/reference/chain-helpers.md has the signatures of the library", () => {
  const { path, text } = generateChainHelpers();
  expect(read(path), `${path} is out of date: run "npm run docs".`).toBe(text);
});

it("docs/library.md names every helper of a chain, and no other", () => {
  const [table] = /^\| `chain\.advance.+?\n\n/ms.exec(read("docs/library.md"))!;
  // A row has calls of one object: `chain.prove.validator(3)`, `.state(path)`.
  const calls = table.matchAll(
    /`(chain(?:\.validator\(3\)|\.validators|\.prove|\.payload|\.builder\(0\))?)?\.(\w+)\(/g,
  );
  let object = "";
  const named = Array.from(calls, ([, start, name]) => {
    object = start ?? object;
    return `${object}.${name}`;
  });
  expect(new Set(named)).toEqual(new Set(helpers()));
});

/** Calls of a chain, with those of its validators, proofs, payloads and builders. */
function helpers(): string[] {
  const { validator, validators, prove, payload, builder, ...others } = chainActions({} as Client);
  const objects = {
    chain: others,
    "chain.validator(3)": validator(3),
    "chain.validators": validators,
    "chain.prove": prove,
    "chain.payload": payload,
    "chain.builder(0)": builder(0),
  };
  return Object.entries(objects).flatMap(([object, calls]) => Object.keys(calls).map((name) => `${object}.${name}`));
}
