import { expect } from "vitest";
import { tempDirectory } from "../directories/temp-directory.ts";
import type { Program } from "../program/program.ts";
import { ProgramHere } from "../program/program-here.ts";
import type { ProgramRun } from "../program/program-run.ts";
import { Client } from "../server/jsonrpc/websocket/client.ts";

/** Reverts a dev chain to before a finalized checkpoint. The gateway must follow. */
export async function followsBack(Run: typeof Program | typeof ProgramHere, workers: string): Promise<void> {
  const flags = ["--validators", "8", "--warmup-epochs", "0", "--speed", "0", "--rest", "--rest-port", "0"];
  const chain = await ProgramHere.dev([...flags, "--data-dir", tempDirectory()]);
  const [, upstream] = await chain.untilLine(/REST is served at (http:\S+)/);
  const gateway = await Run.served(["gateway", "--upstream", upstream!, "--workers", workers]);
  const finality = await Client.connect(gateway.url);
  await finality.subscribe(["finalized_checkpoint"]);
  const blockRoot = async (program: Pick<ProgramRun, "call">): Promise<string> =>
    (await program.call("get_v1_beacon_headers_blockId", ["8"])).root;

  const id = await chain.call("dev_snapshot");
  await chain.call("dev_advance", { until: "finalized" });
  const before = (await finality.notifications.next()).data;
  const left = await blockRoot(chain);
  // Each worker caches it.
  for (let time = 0; time < 8; time++) expect(await blockRoot(gateway)).toBe(left);

  await chain.call("dev_revert", [id]);
  await chain.call("dev_skip", [1]);
  await chain.call("dev_advance", { until: "finalized" });
  const after = (await finality.notifications.next()).data;
  expect(after).toMatchObject({ epoch: expect.any(String) });
  expect(after).not.toEqual(before);
  const now = await blockRoot(chain);
  expect(now).not.toBe(left);
  for (let time = 0; time < 8; time++) expect(await blockRoot(gateway)).toBe(now);
  expect(gateway.complaints).toEqual([expect.stringContaining("Chain reverted behind finality")]);
}
