import { expect, it } from "vitest";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { Program } from "../support/program/program.ts";
import { ProgramHere } from "../support/program/program-here.ts";

const START = ["--speed", "0", "--warmup-epochs", "4"];

it("a dev chain killed right after a revert is at the snapshot, with its pending operations", async () => {
  const args = [...START, "--data-dir", tempDirectory()];
  const first = await Program.dev(args);
  await first.untilLine(/Dev chain is running/);
  const before = await first.call("dev_skip", [0]);
  const id = await first.call("dev_snapshot");
  await first.call("dev_advance", [20]);
  const left = await first.call("dev_skip", [0]);
  expect(await first.call("dev_revert", [id])).toBe(true);
  await first.call("dev_slash", [1]);
  const [{ data: deposit }] = await first.call("dev_deposit");
  await first.kill();

  const second = await ProgramHere.dev(args);
  await second.untilLine(/Dev chain is running/);
  expect(await second.call("dev_skip", [0])).toEqual(before);
  const { error } = await second.reply("get_v1_beacon_headers_blockId", [left.head_block_root]);
  expect(error).toMatchObject({ code: -32001 });
  // Snapshots live as long as the process.
  expect((await second.reply("dev_revert", [id])).error?.message).toContain("None has been taken");
  await second.call("dev_advance", [2]);
  const { status } = await second.call("get_v1_beacon_states_stateId_validators_validatorId", ["head", 1]);
  expect(status).toBe("active_slashed");
  expect(await second.call("get_v1_beacon_states_stateId_pending_deposits", ["head"])).toMatchObject([
    { pubkey: deposit.pubkey, amount: deposit.amount },
  ]);
  const after = await second.call("dev_advance", { until: "finalized" });
  expect(Number(after.finalized_epoch)).toBe(Number(before.finalized_epoch) + 1);
  expect([...first.complaints, ...second.complaints]).toEqual([]);
});
