import { expect, it } from "vitest";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { Program } from "../support/program/program.ts";
import { ProgramHere } from "../support/program/program-here.ts";

const FLAGS = ["--validators", "16", "--warmup-epochs", "0", "--no-auto"];

it("a chain with the EVM survives kill -9 with all acknowledged data, and needs no flag afterwards", async () => {
  const dataDir = ["--data-dir", tempDirectory()];
  const first = await Program.dev([...dataDir, ...FLAGS, "--evm", "--chain-id", "777"]);
  expect(await first.call("get_v1_config_deposit_contract")).toMatchObject({ chain_id: "777" });
  await first.call("dev_advance", { slots: 2 });
  await first.call("dev_deposit", { count: 1 });
  await first.kill();

  const second = await ProgramHere.dev([...dataDir, "--no-auto"], { env: { FANAL_EVM: "" } });
  await second.call("dev_advance", { slots: 1 });
  const { message } = await second.call("get_v2_beacon_blocks_blockId", ["head"]);
  const { execution_payload: payload, execution_requests: requests } = message.body;
  expect([payload.block_number, payload.transactions.length, requests.deposits.length]).toEqual(["3", 1, 1]);
  expect(second.complaints).toEqual([]);
  await second.stop();
});
