import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** Names that code blocks use without an import. */
export const AMBIENT = `
import type * as Fanal from "fanal";
declare global {
  const startDevChain: typeof Fanal.startDevChain;
  const chain: Fanal.DevChain<"fulu">;
  const client: Fanal.Client<"fulu">;
  const abi: import("viem").Abi;
  const bytecode: Fanal.Hex;
  // Of Hardhat 3, which is not installed.
  const defineConfig: (config: object) => object;
}
`;

/** Document that quotes source code, which a separate test checks. */
const ABOUT_SOURCES = "adding-a-method.md";

/**
 * Returns the code blocks of the documents in a package as modules by file name. JavaScript is not allowed. Blocks of a
 * guide without a file name are one program.
 */
export function codeBlocks(root: string): Map<string, string> {
  const blocks = new Map<string, string>();
  for (const path of globSync(["README.md", "docs/**/*.md"], { cwd: root })) {
    if (basename(path) === ABOUT_SOURCES) continue;
    const text = readFileSync(join(root, path), "utf8");
    const name = path.replace(/\.md$/, "").replaceAll(/[\\/]/g, "-");
    for (const { 1: language, 2: code, index } of text.matchAll(/^```(js|mjs|ts|mts)\n(.*?)^```/gms)) {
      const line = text.slice(0, index).split("\n").length;
      if (language !== "ts") throw new Error(`${path}:${line} has a block of ${language}. Write it as ts.`);
      const isPart = basename(dirname(path)) === "guides" && !/^\/\/ [\w./-]+\.\w+\n/.test(code!);
      const file = isPart ? `${name}.mts` : `${name}-line-${line}.mts`;
      blocks.set(file, `${blocks.get(file) ?? "export {};\n"}${code}`);
    }
  }
  return blocks;
}
