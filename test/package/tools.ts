import { dirname } from "node:path";
import type { TestContext } from "vitest";
import { tryCachedPackage } from "../../scripts/cached-package.js";

const { platform, arch } = process;
const BUN_ARCHITECTURE = arch === "arm64" ? "aarch64" : arch;
const DENO_PLATFORM = `${platform}-${arch}${platform === "linux" ? "-glibc" : ""}`;
const EDR_PLATFORM = `${platform}-${arch}${{ linux: "-gnu", win32: "-msvc" }[platform as string] ?? ""}`;
const FOUNDRY_PLATFORM = `${platform}-${arch === "x64" ? "amd64" : arch}`;

interface Tool {
  name: string;
  version: string;
  /** Program in the package. */
  file: string;
  /** Packages that are installed beside it. */
  others?: Readonly<Record<string, string>>;
}

/** Programs from npm for tests. Binaries come from the package of the platform. */
const TOOLS = {
  bun: { name: `@oven/bun-${platform}-${BUN_ARCHITECTURE}`, version: "1.4.4", file: "bin/bun" },
  cast: { name: `@foundry-rs/cast-${FOUNDRY_PLATFORM}`, version: "1.7.1", file: "bin/cast" },
  deno: { name: `@deno/${DENO_PLATFORM}`, version: "2.9.5", file: "deno" },
  forge: { name: `@foundry-rs/forge-${FOUNDRY_PLATFORM}`, version: "1.7.1", file: "bin/forge" },
  hardhat: {
    name: "hardhat",
    version: "3.18.0",
    file: "dist/src/cli.js",
    others: {
      // Named, because npm leaves out optional packages that a registry lacks.
      [`@nomicfoundation/edr-${EDR_PLATFORM}`]: "0.22.0",
      "@nomicfoundation/hardhat-ethers": "4.2.0",
      "@nomicfoundation/hardhat-network-helpers": "3.0.11",
      "@nomicfoundation/hardhat-node-test-runner": "3.1.0",
      "@nomicfoundation/hardhat-viem": "3.0.9",
      "@nomicfoundation/hardhat-viem-assertions": "3.1.3",
      ethers: "6.17.0",
      solc: "0.8.37",
      viem: "2.57.1",
    },
  },
  openrpc: {
    name: "@open-rpc/generator",
    version: "1.22.3",
    file: "build/cli.js",
    // Those of the clients that it generates.
    others: {
      "@open-rpc/client-js": "1.7.1",
      "@open-rpc/meta-schema": "1.14.2",
      "@open-rpc/schema-utils-js": "1.15.0",
      "@types/json-schema": "7.0.3",
      "@types/lodash": "4.14.149",
      "@types/node": "20.19.0",
      "@types/ws": "6.0.1",
      lodash: "4.17.21",
      typescript: "5.9.3",
    },
  },
  pnpm: { name: `@pnpm/exe.${platform}-${arch}`, version: "12.18.0", file: "pnpm" },
  typescript: { name: "typescript", version: "5.9.3", file: "bin/tsc" },
  web3: { name: "web3", version: "4.16.0", file: "package.json" },
} as const satisfies Record<string, Tool>;

export type ToolName = keyof typeof TOOLS;

/** Returns the path of a program, which the first use installs. Skips the test where it does not install. */
export function toolPath(tool: ToolName, context: TestContext): string {
  const { name, version, file, others }: Tool = TOOLS[tool];
  const { program, problem } = tryCachedPackage({
    title: `${tool} ${version}`,
    folder: `${tool}-${version}`,
    size: others === undefined ? "one package" : `${Object.keys(others).length + 1} packages and what they need`,
    manifest: { name: `fanal-test-${tool}`, dependencies: { [name]: version, ...others } },
    entry: [...name.split("/"), ...file.split("/")],
  });
  return program ?? context.skip(problem);
}

/** Returns the `node_modules` folder that a tool is installed in. */
export function toolModules(tool: ToolName, context: TestContext): string {
  const { name, file }: Tool = TOOLS[tool];
  let folder = toolPath(tool, context);
  for (const _step of `${name}/${file}`.split("/")) folder = dirname(folder);
  return folder;
}
