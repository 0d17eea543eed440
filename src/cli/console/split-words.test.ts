import { describe, expect, it } from "vitest";
import { splitWords } from "./split-words.ts";

describe("words of a line", () => {
  const cases: [line: string, words: string[]][] = [
    ["", []],
    ["  getX\thead  ", ["getX", "head"]],
    [`getX '["0", "1"]' 'it'"'"'s'`, ["getX", '["0", "1"]', "it's"]],
    [`getX "a \\"b\\" \\n" a\\ b ''`, ["getX", 'a "b" \\n', "a b", ""]],
    ['getX ["0", "a]\\"", {"b": [ ]}] {"c": "}"} head', ["getX", '["0", "a]\\"", {"b": [ ]}]', '{"c": "}"}', "head"]],
    ["setGraffiti a[1] --json", ["setGraffiti", "a[1]", "--json"]],
  ];
  for (const [line, words] of cases) it(`of ${line || "nothing"}`, () => expect(splitWords(line)).toEqual(words));

  it("require closed quotes and brackets", () => {
    expect(() => splitWords("getX 'a")).toThrow("The quote ' is not closed.");
    expect(() => splitWords('getX [{"a": 1')).toThrow("The JSON that starts with [ is not closed: }] is missing.");
  });
});
