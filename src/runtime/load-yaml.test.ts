import { expect, it, onTestFinished, vi } from "vitest";
import { parseYaml } from "./load-yaml.ts";

const QUOTE = "; quote texts that begin with *, &, ! or another special character";

it("keeps scalars as texts, and resolves aliases", () => {
  expect(parseYaml("a: 0x01\nb: &b [yes]\nc: *b")).toEqual({ a: "0x01", b: ["yes"], c: ["yes"] });
  expect(parseYaml("# nothing")).toBeNull();
});

it.each([
  ["a:\n  b: *SECRET", `alias without anchor at line 2, column 6${QUOTE}`],
  ["a: !SECRET abc", `tag resolve failed at line 1, column 4${QUOTE}`],
  ["a: @SECRET", `bad scalar start at line 1, column 4${QUOTE}`],
  ["SECRET: 1\nSECRET: 2", "duplicate key at line 2, column 1"],
  ['a: "\\SECRET"', "bad dq escape at line 1, column 5"],
  ["%SECRET\n---\na: 1", "bad directive at line 1, column 1"],
  ["a: { { b: SECRET }: 1 }", "non string key at line 1, column 6"],
  ["a: {{ SECRET }}", "non string key at line 1, column 5"],
  [`a: ${"[".repeat(5000)}`, "it is nested too deeply"],
  [`a: &b [1]\nc: [${"*b, ".repeat(200)}]`, "it has too many aliases"],
])("rejects %j without showing or printing its text", (text, expected) => {
  const emit = vi.spyOn(process, "emitWarning");
  onTestFinished(() => emit.mockRestore());
  expect(() => parseYaml(text)).toThrow(new SyntaxError(expected));
  expect(emit).not.toHaveBeenCalled();
});
