import { expect, it, vi } from "vitest";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { type Head, slotOf, untilAgreed } from "../support/program/agreement.ts";
import { ProgramHere } from "../support/program/program-here.ts";

vi.setConfig({ testTimeout: 180_000 });

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
