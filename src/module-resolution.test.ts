import type { ResolveHookContext } from "node:module";
import { describe, expect, it } from "vitest";
import { createResolver } from "./module-resolution.ts";

const BY_IMPORT: ResolveHookContext = {
  conditions: ["node", "import"],
  importAttributes: {},
  parentURL: "file:///app/src/main.ts",
};

/** A resolver with what it asked Node, who finds packages in one place and everything else where it is said to be. */
function resolver() {
  const asked: string[] = [];
  const resolve = createResolver();
  const ask = (specifier: string, context: Partial<ResolveHookContext> = {}) =>
    resolve(specifier, { ...BY_IMPORT, ...context }, (wanted, { parentURL } = {}) => {
      asked.push(wanted);
      if (wanted.endsWith("missing.ts")) throw new Error("There is no such file.");
      const isPackage = !wanted.startsWith(".");
      const url = isPackage ? `file:///app/node_modules/${wanted}/index.js` : new URL(wanted, parentURL).href;
      const format = url.endsWith(".ts") ? "module-typescript" : "module";
      return { url: url.replace("/linked/", "/elsewhere/"), format };
    });
  return { ask, asked };
}

describe("what Node is asked", () => {
  it("of the files of a folder is the format of one of each ending", () => {
    const { ask, asked } = resolver();
    expect(ask("./chain/a.ts")).toEqual({ url: "file:///app/src/chain/a.ts", format: "module-typescript" });
    expect(ask("./chain/b.ts")).toMatchObject({ url: "file:///app/src/chain/b.ts", format: "module-typescript" });
    expect(ask("../src/chain/../chain/c.ts")).toMatchObject({ url: "file:///app/src/chain/c.ts" });
    expect(ask("./chain/a.js")).toMatchObject({ url: "file:///app/src/chain/a.js", format: "module" });
    expect(asked).toEqual(["./chain/a.ts", "./chain/a.js"]);
  });

  it("of a package is where it is for each folder that imports it", () => {
    const { ask, asked } = resolver();
    const first = ask("zod");
    expect(ask("zod", { parentURL: "file:///app/src/other.ts" })).toEqual({ ...first, shortCircuit: true });
    expect(ask("zod", { parentURL: "file:///app/src/deeper/other.ts" }).url).toBe(first.url);
    expect(asked).toEqual(["zod", "zod"]);
  });

  it("is everything that is required, or begins the program", () => {
    const { ask, asked } = resolver();
    const required = { conditions: ["node", "require"] };
    for (const context of [required, required, { parentURL: undefined }]) {
      expect(() => ask("./missing.ts", context)).toThrow("no such file");
    }
    expect(asked).toHaveLength(3);
  });

  it("is asked again after it failed, and behind a link", () => {
    const { ask, asked } = resolver();
    expect(() => ask("./missing.ts")).toThrow("no such file");
    expect(ask("./linked/a.ts").url).toBe("file:///app/src/elsewhere/a.ts");
    expect(ask("./linked/b.ts").url).toBe("file:///app/src/elsewhere/b.ts");
    expect(ask("./there.ts").url).toBe("file:///app/src/there.ts");
    expect(asked).toHaveLength(4);
  });
});
