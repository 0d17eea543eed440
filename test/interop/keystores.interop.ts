import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { Program } from "../support/program/program.ts";
import { blocksUpTo, chainFinalizedByLodestar, GRAFFITI_BYTES } from "./finalizing-chain.ts";
import { ownLodestar } from "./lodestar-install.ts";

it("Lodestar imports exported keystores and slashing protection data, and finalizes the chain with them", async () => {
  const keys = join(tempDirectory(), "keys");
  const chain = ["--fork", "altair", "--validators", "16", "--data-dir", tempDirectory()];
  const exporting = new Program(["dev", "keys", "export", keys, ...chain]);
  expect(await exporting.exited).toMatchObject({ code: 0 });

  const { program, finalizedSlot } = await chainFinalizedByLodestar("altair", 8, {
    keyFlags: async ({ lodestarFlags, directory }) => {
      const { node, program: lodestar } = ownLodestar();
      const file = join(keys, "slashing_protection.json");
      const args = [lodestar, "validator", "slashing-protection", "import", "--file", file, ...lodestarFlags];
      const env = { ...process.env, LODESTAR_PRESET: "minimal", NODE_OPTIONS: "" };
      const imported = spawnSync(node, args, { cwd: directory, env, encoding: "utf8" });
      expect(imported.stdout + imported.stderr).toContain("Import completed successfully");
      return ["--importKeystores", join(keys, "keystores"), "--importKeystoresPassword", join(keys, "password.txt")];
    },
  });
  const blocks = await blocksUpTo(program, finalizedSlot);
  expect(new Set(blocks.map(({ body }) => body.graffiti))).toEqual(new Set([GRAFFITI_BYTES]));
});
