import { join } from "node:path";
import { type BeaconBlock, ssz } from "@lodestar/types";
import { describe, expect, it, onTestFinished } from "vitest";
import { devChainConfig } from "../../src/dev/chain-config.ts";
import { genesisDeposits } from "../../src/dev/genesis-deposits.ts";
import { InteropKeys } from "../../src/dev/interop-keys.ts";
import { DepositTreeSnapshotType } from "../../src/execution/eth1/deposit-snapshot.ts";
import type { DevNodeOptions } from "../../src/node/dev-node.ts";
import { Caller } from "../support/api/caller.ts";
import { serveApi } from "../support/api/served-api.ts";
import { advance, openDevChain, QUIET } from "../support/chain/dev-chain.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { skipSuite } from "../support/suite/skip-suite.ts";
import { ANVIL_CHAIN_ID, Anvil, DEPOSIT_CONTRACT, missingAnvil } from "./anvil.ts";

const GENESIS_TIME = 1_700_000_000;
const VALIDATORS = 16;
/** Blocks of two seconds: vote candidates of the first period are 8 to 16 seconds older than genesis. */
const deposits = { contract: DEPOSIT_CONTRACT, chainId: ANVIL_CHAIN_ID, followDistance: 4 };
const config = devChainConfig({ forks: [], slotSeconds: 2, genesisTime: GENESIS_TIME, deposits });
const newcomers = genesisDeposits(config, new InteropKeys(VALIDATORS + 40)).slice(VALIDATORS);
/** The vote of this slot's block completes the majority of the period. */
const DECISIVE_SLOT = 17;
const NO_REVEAL = Uint8Array.from({ length: 96 }, (_, i) => (i === 0 ? 0xc0 : 0));

async function startAnvil(options: { port?: number; stateFile?: string } = {}): Promise<Anvil> {
  const anvil = await Anvil.start({ timestamp: GENESIS_TIME - 100, ...options });
  onTestFinished(() => anvil.stop());
  return anvil;
}

function devOptions(anvil: Anvil): Partial<DevNodeOptions> {
  return { genesisTime: GENESIS_TIME, validators: VALIDATORS, deposits, eth1: [anvil.url] };
}

describe("on a real deposit chain", () => {
  skipSuite(missingAnvil());

  it("deposits add validators, although both sides are restarted", async () => {
    const stateFile = join(tempDirectory(), "anvil.json");
    const directory = tempDirectory();
    const before = await startAnvil({ stateFile });
    await before.mine(GENESIS_TIME - 14, newcomers.slice(0, 25));
    await before.mine(GENESIS_TIME - 10, newcomers.slice(25));
    const voting = await openDevChain(devOptions(before), directory);
    expect(await voting.node.eth1!.update()).toBe(true);
    await voting.devChain.clock.advanceTo(DECISIVE_SLOT - 1);
    const held = await new Caller(voting.devChain.api).call("getEth1Chain");
    expect(held.map((block: { deposits: unknown[] }) => block.deposits.length)).toEqual([25, 15]);
    expect(held[1].deposits[0]).toEqual(ssz.phase0.DepositData.toJson(newcomers[25]!));
    expect(held[1].voteData.deposit_count).toBe("40");
    await voting.abandon();
    await before.stop();

    const deciding = await openDevChain({ ...devOptions(before), ...QUIET }, directory);
    const caller = new Caller(deciding.devChain.api);
    expect(await caller.call("getEth1Chain")).toEqual(held);
    expect(await deciding.node.eth1!.update()).toBe(false);
    await deciding.devChain.clock.advanceTo(DECISIVE_SLOT);
    const proposal = await caller.call("getEth1ProposalData");
    expect(proposal).toMatchObject({ vote: held[1].voteData, hasMissingDeposits: false });
    const { data } = (await deciding.devChain.api.validator.produceBlockV3({
      slot: DECISIVE_SLOT,
      randaoReveal: NO_REVEAL,
      skipRandaoVerification: true,
    })) as { data: { block: BeaconBlock } };
    expect(data.block.body.deposits).toHaveLength(16);
    expect(proposal.deposits).toEqual(data.block.body.deposits.map((deposit) => ssz.phase0.Deposit.toJson(deposit)));
    expect(await caller.error("get_v1_beacon_deposit_snapshot")).toMatchObject({ code: -32001 });
    await deciding.close();

    const after = await startAnvil({ stateFile, port: before.port });
    const following = await openDevChain(devOptions(after), directory);
    const { devChain, node } = following;
    const { clock, chain } = devChain;
    expect(await node.eth1!.update()).toBe(true);
    // Three blocks include 16, 16 and 8 of them, after the slot that included none.
    await clock.advanceTo(DECISIVE_SLOT + 4);
    expect(chain.headState.eth1DepositIndex).toBe(40);
    expect(chain.headState.validators.length).toBe(VALIDATORS + 40);

    await clock.advanceTo(6 * 8);
    await node.eth1!.update();
    const served = await serveApi(devChain.api);
    onTestFinished(served.close);
    const path = "/eth/v1/beacon/deposit_snapshot";
    const snapshot = JSON.parse((await served.ask(path)).text).data;
    expect(snapshot).toMatchObject({
      deposit_root: held[1].voteData.deposit_root,
      deposit_count: "40",
      execution_block_hash: held[1].voteData.block_hash,
      execution_block_height: held[1].number,
    });
    const asSsz = await fetch(served.restUrl + path, { headers: { accept: "application/octet-stream" } });
    const inSsz = DepositTreeSnapshotType.deserialize(new Uint8Array(await asSsz.arrayBuffer()));
    expect(DepositTreeSnapshotType.toJson(inSsz)).toEqual(snapshot);

    await following.close();

    // Two are activated per epoch, which needs nothing more from the deposit chain.
    const without = await openDevChain({ ...devOptions(after), eth1: [] }, directory);
    await advance(without.devChain, 31 * 8);
    const { epochCtx } = without.devChain.chain.headState;
    expect(epochCtx.currentShuffling.activeIndices).toHaveLength(VALIDATORS + 40);
    expect([...following.complaints, ...without.complaints]).toEqual([]);
  });

  it("deposits are queued in electra", async () => {
    const anvil = await startAnvil();
    await anvil.mine(GENESIS_TIME - 10, newcomers);
    const { devChain, node } = await openDevChain({ ...devOptions(anvil), forks: [{ fork: "electra", epoch: 0 }] });
    expect(await node.eth1!.update()).toBe(true);
    await devChain.clock.advanceTo(DECISIVE_SLOT + 3);
    expect(devChain.chain.headState.eth1DepositIndex).toBe(40);
    expect(devChain.chain.headState).toMatchObject({ pendingDeposits: { length: 40 } });
  });

  it("a reorg of voted blocks changes the vote, and its dropped deposits are not processed", async () => {
    const anvil = await startAnvil();
    await anvil.mine(GENESIS_TIME - 14, newcomers.slice(0, 10));
    await anvil.mine(GENESIS_TIME - 12, newcomers.slice(10, 20));
    await anvil.mine(GENESIS_TIME - 6);
    const { devChain, node, complaints } = await openDevChain(devOptions(anvil));
    const caller = new Caller(devChain.api);
    expect(await node.eth1!.update()).toBe(true);
    await devChain.clock.advanceTo(5);
    expect((await caller.call("getEth1ProposalData")).vote.deposit_count).toBe("20");

    await anvil.call("anvil_reorg", 2, []);
    expect(await node.eth1!.update()).toBe(true);
    expect((await caller.call("getEth1ProposalData")).vote.deposit_count).toBe("10");
    expect(complaints.join("")).toMatch(/Deposit chain reorg, rereading blocks/);
    // The votes before the reorg are lost.
    await devChain.clock.advanceTo(5 + DECISIVE_SLOT + 1);
    expect(devChain.chain.headState.eth1DepositIndex).toBe(10);
  });
});
