import type { ResolveHookContext } from "node:module";
import { describe, expect, it } from "vitest";
import { createCachingResolver } from "./module-resolution.ts";

const BY_IMPORT: ResolveHookContext = {
  conditions: ["node", "import"],
  importAttributes: {},
  parentURL: "file:///app/src/main.ts",
};

/**
 * Creates a resolver and records its queries to Node. Packages resolve to a fixed location, relative specifiers to
 * themselves.
 */
function resolver() {
  const requested: string[] = [];
  const resolve = createCachingResolver();
  const ask = (specifier: string, context: Partial<ResolveHookContext> = {}) =>
    resolve(specifier, { ...BY_IMPORT, ...context }, (wanted, { parentURL } = {}) => {
      requested.push(wanted);
      if (wanted.endsWith("missing.ts")) throw new Error("There is no such file.");
      const isPackage = !wanted.startsWith(".");
      const url = isPackage ? `file:///app/node_modules/${wanted}/index.js` : new URL(wanted, parentURL).href;
      const format = url.endsWith(".ts") ? "module-typescript" : "module";
      return { url: url.replace("/linked/", "/elsewhere/"), format };
    });
  return { ask, requested };
}

describe("the caching resolver", () => {
  it("asks for the format once per folder and extension", () => {
    const { ask, requested } = resolver();
    expect(ask("./chain/a.ts")).toEqual({ url: "file:///app/src/chain/a.ts", format: "module-typescript" });
    expect(ask("./chain/b.ts")).toMatchObject({ url: "file:///app/src/chain/b.ts", format: "module-typescript" });
    expect(ask("../src/chain/../chain/c.ts")).toMatchObject({ url: "file:///app/src/chain/c.ts" });
    expect(ask("./chain/a.js")).toMatchObject({ url: "file:///app/src/chain/a.js", format: "module" });
    expect(requested).toEqual(["./chain/a.ts", "./chain/a.js"]);
  });

  it("asks for a package once per importing folder", () => {
    const { ask, requested } = resolver();
    const first = ask("zod");
    expect(ask("zod", { parentURL: "file:///app/src/other.ts" })).toEqual({ ...first, shortCircuit: true });
    expect(ask("zod", { parentURL: "file:///app/src/deeper/other.ts" }).url).toBe(first.url);
    expect(requested).toEqual(["zod", "zod"]);
  });

  it("caches neither require() nor the entry point", () => {
    const { ask, requested } = resolver();
    const required = { conditions: ["node", "require"] };
    for (const context of [required, required, { parentURL: undefined }]) {
      expect(() => ask("./missing.ts", context)).toThrow("no such file");
    }
    expect(requested).toHaveLength(3);
  });

  it("caches neither failures nor targets of symbolic links", () => {
    const { ask, requested } = resolver();
    expect(() => ask("./missing.ts")).toThrow("no such file");
    expect(ask("./linked/a.ts").url).toBe("file:///app/src/elsewhere/a.ts");
    expect(ask("./linked/b.ts").url).toBe("file:///app/src/elsewhere/b.ts");
    expect(ask("./there.ts").url).toBe("file:///app/src/there.ts");
    expect(requested).toHaveLength(4);
  });
});
