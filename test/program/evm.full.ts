import { expect, it, vi } from "vitest";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { type Head, slotOf, untilAgreed } from "../support/program/agreement.ts";
import { Program } from "../support/program/program.ts";
import { ProgramHere } from "../support/program/program-here.ts";

vi.setConfig({ testTimeout: 180_000 });

const FLAGS = ["--validators", "16", "--warmup-epochs", "0", "--no-auto"];
/** EIP-7002. */
const WITHDRAWAL_REQUESTS = "0x00000961ef480eb55e80d19ad83579a64c007002";
/** Returns 18 requests of 76 bytes: PUSH2 1368, PUSH0, RETURN. A block holds 16. */
const EIGHTEEN_REQUESTS = "0x6105585ff3";

it("a second node executes the payloads of the chain with its own EVM", async () => {
  const flags = "--validators 8 --slot-seconds 1 --warmup-epochs 0 --evm --p2p --p2p-port 0";
  const dev = await ProgramHere.dev([...flags.split(" "), "--data-dir", tempDirectory()]);
  const [, network] = await dev.untilLine(/Another node joins with: fanal node --network (\S+)/);
  const nodeFlags = "--p2p-port 0 --p2p-address 127.0.0.1".split(" ");
  const node = await ProgramHere.served(["node", "--network", network!, "--data-dir", tempDirectory(), ...nodeFlags]);
  const [deposit] = await dev.call("dev_deposit", { count: 1 });
  const found: string[] = [];
  for (let slot = 0; !found.includes(deposit.data.pubkey); slot++) {
    await node.callUntil<Head>("getChainHead", (head) => slotOf(head) > slot);
    const { result } = await node.reply("get_v2_beacon_blocks_blockId", [slot + 1]);
    const deposits: { pubkey: string }[] = result?.message.body.execution_requests.deposits ?? [];
    found.push(...deposits.map(({ pubkey }) => pubkey));
  }
  await untilAgreed(dev, node);
  expect(await node.call("get_v1_node_syncing")).toMatchObject({ is_optimistic: false, el_offline: false });
  for (const program of [node, dev]) await program.stop();
  for (const { output } of [dev, node]) expect(output).not.toMatch(/ (ERROR|FATAL) /);
});

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
