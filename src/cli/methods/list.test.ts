import { describe, expect, it } from "vitest";
import { methodGroups, methods } from "../../api/method-groups.ts";
import { methodsJson, methodsText } from "./list.ts";
import { wrapText } from "./text.ts";

describe("method list", () => {
  const text = methodsText(methodGroups);
  const lines = text.split("\n");

  it("has number, parameters, summary and aliases of every method", () => {
    for (const { number, name, summary, aliases } of methods) {
      const at = lines.findIndex(
        (line) =>
          line
            .trim()
            .replace(/^\d+ +/, "")
            .split(" ")[0] === name,
      );
      expect(at, name).toBeGreaterThanOrEqual(0);
      if (number !== undefined) expect(lines[at]).toMatch(new RegExp(`^ *${number}  `));
      const flowing = text.replace(/\s+/g, " ");
      expect(flowing).toContain(summary);
      for (const alias of aliases) expect(flowing).toContain(alias);
    }
    expect(lines).toContain("   9  get_v1_beacon_headers [slot] [parent_root]");
    expect(lines).toContain("  15  post_v1_beacon_pool_attestations attestations...");
    expect(lines).toContain("Beacon chain");
  });

  it("fits into 100 columns", () => {
    expect(lines.filter((line) => line.length > 100)).toEqual([]);
  });

  it("is available as JSON", () => {
    const listed = JSON.parse(methodsJson(methodGroups)) as { name: string; number: number | null }[];
    expect(listed.map(({ name }) => name)).toEqual(methods.map(({ name }) => name));
    expect(listed).toContainEqual({
      number: 2,
      name: "get_v1_beacon_states_root",
      aliases: ["get_v1_beacon_states_stateId_root"],
      family: "Beacon chain",
      summary: "The hash tree root of a state.",
      params: [{ name: "state_id", required: true, description: expect.any(String) }],
      rest: { verb: "GET", path: "/eth/v1/beacon/states/{state_id}/root" },
      submission: false,
    });
  });
});

describe("wrapped text", () => {
  it("breaks at blanks and keeps long words whole", () => {
    expect(wrapText("one two three", 9, "> ", "  ")).toEqual(["> one two", "  three"]);
    expect(wrapText("a incomprehensibilities b", 6)).toEqual(["a", "incomprehensibilities", "b"]);
  });
});
