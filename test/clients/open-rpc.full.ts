import { execFileSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { toolModules, toolPath } from "../package/tools.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { Program } from "../support/program/program.ts";

const INSTALL_LIMIT_MS = 900_000;
const PROJECT = "client/typescript";

/** Calls methods without parameters and with one, which the generated client validates before it sends them. */
const SCRIPT = `
const { Fanal } = require("./${PROJECT}/build/index.js");
const [host, port] = process.argv.slice(2);
const client = new Fanal({ transport: { type: "http", host, port: Number(port) } });
(async () => {
  const head = await client.getChainHead();
  const { root } = await client.get_v1_beacon_states_root(Number(head.head_slot));
  const refused = await client.get_v1_beacon_states_root("nowhere").catch((errors) => JSON.stringify(errors));
  console.log(JSON.stringify({ head, root, refused }));
})();
`;

it("has a document from which @open-rpc/generator makes a client", { timeout: INSTALL_LIMIT_MS }, async (context) => {
  const generator = toolPath("openrpc", context);
  const modules = toolModules("openrpc", context);
  const chain = ["--data-dir", tempDirectory(), "--validators", "16", "--no-auto", "--no-evm"];
  const program = await Program.dev(chain);
  const directory = tempDirectory();
  const run = (...args: string[]) => execFileSync(process.execPath, args, { cwd: directory, encoding: "utf8" });
  writeFileSync(join(directory, "openrpc.json"), JSON.stringify(await program.call("rpc.discover")));
  const components = [{ type: "client", name: "fanal-client", language: "typescript" }];
  writeFileSync(
    join(directory, "config.json"),
    JSON.stringify({ openrpcDocument: "./openrpc.json", outDir: ".", components }),
  );
  symlinkSync(modules, join(directory, "node_modules"));

  run(generator, "generate", "-c", "config.json");
  // The compiler rejects members whose names or types are not valid, and the document if it is not typed as OpenRPC.
  run(join(modules, "typescript/bin/tsc"), "-p", PROJECT, "--skipLibCheck");

  writeFileSync(join(directory, "call.cjs"), SCRIPT);
  const { hostname, port } = new URL(program.url);
  const answers = JSON.parse(run("call.cjs", hostname, port)) as Record<string, unknown>;
  expect(answers.head).toEqual(await program.call("getChainHead"));
  expect(answers.root).toMatch(/^0x[0-9a-f]{64}$/);
  expect(answers.refused).toContain("ParameterValidationError");
});
