import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { network } from "hardhat";

const MINIMUM = 1000n;
const HOUR = 3600;

describe("Vault with viem", async () => {
  const { viem, networkHelpers } = await network.create();
  const client = await viem.getPublicClient();
  const [owner, user] = await viem.getWalletClients();

  async function deploy() {
    return { vault: await viem.deployContract("Vault", [MINIMUM]) };
  }

  it("emits an event for a deposit", async () => {
    const { vault } = await networkHelpers.loadFixture(deploy);
    await viem.assertions.emitWithArgs(
      vault.write.deposit({ value: 5000n, account: user.account }),
      vault,
      "Deposited",
      [user.account.address, 5000n],
    );
    const events = await client.getContractEvents({
      ...{ address: vault.address, abi: vault.abi, eventName: "Deposited" },
      ...{ fromBlock: 0n, strict: true },
    });
    assert.deepEqual(
      events.map(({ args }) => args.amount),
      [5000n],
    );
  });

  it("returns to the snapshot of a fixture", async () => {
    const { vault } = await networkHelpers.loadFixture(deploy);
    assert.equal(await vault.read.balanceOf([user.account.address]), 0n);
    assert.equal(await client.getBalance({ address: vault.address }), 0n);
    await vault.write.deposit({ value: MINIMUM, account: user.account });
    assert.equal(await client.getBalance({ address: vault.address }), MINIMUM);
  });

  it("reverts with a reason and with custom errors", async () => {
    const { vault } = await networkHelpers.loadFixture(deploy);
    await viem.assertions.revertWith(vault.write.deposit({ value: 1n }), "below minimum");
    await viem.assertions.revertWithCustomErrorWithArgs(vault.write.withdraw([1n]), vault, "Insufficient", [0n, 1n]);
    const asUser = { account: user.account };
    await viem.assertions.revertWithCustomError(vault.write.lock([1n], asUser), vault, "NotOwner");
  });

  it("moves balances", async () => {
    const { vault } = await networkHelpers.loadFixture(deploy);
    await vault.write.deposit({ value: 5000n, account: user.account });
    await viem.assertions.balancesHaveChanged(vault.write.withdraw([2000n], { account: user.account }), [
      { address: vault.address, amount: -2000n },
      { address: user.account.address, amount: 2000n },
    ]);
  });

  it("unlocks after an hour", async () => {
    const { vault } = await networkHelpers.loadFixture(deploy);
    await vault.write.deposit({ value: MINIMUM });
    await vault.write.lock([BigInt(HOUR)]);
    await viem.assertions.revertWith(vault.write.withdraw([1n]), "locked");
    await networkHelpers.time.increase(HOUR + 1);
    await vault.write.withdraw([1n]);
    assert.equal(await vault.read.balanceOf([owner.account.address]), MINIMUM - 1n);
  });

  it("is used by an impersonated account with a set balance", async () => {
    const { vault } = await networkHelpers.loadFixture(deploy);
    const address = "0x7777777777777777777777777777777777777777";
    await networkHelpers.setBalance(address, 10n ** 18n);
    await networkHelpers.impersonateAccount(address);
    const wallet = await viem.getWalletClient(address);
    await vault.write.deposit({ value: MINIMUM, account: wallet.account });
    await networkHelpers.stopImpersonatingAccount(address);
    assert.equal(await vault.read.balanceOf([address]), MINIMUM);
  });

  it("has storage that a test can set", async () => {
    const { vault } = await networkHelpers.loadFixture(deploy);
    await networkHelpers.setStorageAt(vault.address, 0, 7n);
    assert.equal(await vault.read.lockedUntil(), 7n);
    const test = await viem.getTestClient();
    const before = await client.getBlockNumber();
    await test.mine({ blocks: 2 });
    await networkHelpers.mine(2);
    assert.equal(await client.getBlockNumber({ cacheTime: 0 }), before + 4n);
  });
});

describe("Vault with ethers", async () => {
  const { ethers } = await network.create();

  it("takes deposits, and withdrawals of no more", async () => {
    const [, user] = await ethers.getSigners();
    const vault = await ethers.deployContract("Vault", [MINIMUM]);
    const receipt = await (await vault.connect(user).deposit({ value: 5000n })).wait();
    assert.equal(receipt.logs[0].args.amount, 5000n);
    assert.equal(await vault.balanceOf(user), 5000n);
    await assert.rejects(vault.connect(user).withdraw(6000n), ({ data }) => {
      const { name, args } = vault.interface.parseError(data);
      assert.deepEqual([name, ...args], ["Insufficient", 5000n, 6000n]);
      return true;
    });
    assert.equal((await ethers.provider.getBlock("latest")).hash, receipt.blockHash);
  });
});
