import { expect, it } from "vitest";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { Program } from "../support/program/program.ts";

it("a chain keeps its preset when restarted without flags", async () => {
  const dataDir = tempDirectory();
  const flags = "--preset mainnet --validators 32 --warmup-epochs 0 --log-format text".split(" ");
  const made = await Program.dev(["--data-dir", dataDir, ...flags]);
  await made.stop();

  const again = await Program.dev(["--data-dir", dataDir]);
  expect(again.lines[0]).toMatch(/preset=mainnet .*validators=32 /);
  expect(await again.call("get_v1_config_spec")).toMatchObject({ SLOTS_PER_EPOCH: "32" });
});
