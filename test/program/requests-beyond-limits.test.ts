import { expect, it } from "vitest";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { Program } from "../support/program/program.ts";
import { ProgramHere } from "../support/program/program-here.ts";

/** EIP-7002. */
const WITHDRAWAL_REQUESTS = "0x00000961ef480eb55e80d19ad83579a64c007002";
/** Returns 18 requests of 76 bytes: PUSH2 1368, PUSH0, RETURN. A block holds 16. */
const EIGHTEEN_REQUESTS = "0x6105585ff3";
const FLAGS = ["--validators", "16", "--warmup-epochs", "0", "--no-auto"];

it("a contract that returns too many requests leaves slots empty, and no acknowledged block is lost in a crash", async () => {
  const dataDir = ["--data-dir", tempDirectory()];
  const first = await Program.dev([...dataDir, ...FLAGS, "--evm"]);
  await first.call("dev_advance", { slots: 2 });
  const genuine = await first.call("eth_getCode", [WITHDRAWAL_REQUESTS]);
  await first.call("anvil_setCode", [WITHDRAWAL_REQUESTS, EIGHTEEN_REQUESTS]);
  const advanced = await first.call("dev_advance", { slots: 48 });
  expect(advanced).toMatchObject({ slot: "50", head_slot: "2" });
  expect(first.complaints.join("\n")).toContain(`${WITHDRAWAL_REQUESTS} made 18 withdrawal requests`);
  await first.kill();

  const second = await ProgramHere.dev([...dataDir, "--no-auto"], { env: { FANAL_EVM: "" } });
  expect(second.complaints).toEqual([]);
  await second.call("anvil_setCode", [WITHDRAWAL_REQUESTS, genuine]);
  expect(await second.call("dev_advance", { slots: 1 })).toMatchObject({ slot: "51", head_slot: "51" });
  const { header } = await second.call("get_v1_beacon_headers_blockId", ["head"]);
  expect(header.message.parent_root).toBe(advanced.head_block_root);
  await second.stop();
});
