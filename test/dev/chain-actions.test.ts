import { ssz } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import { afterAll, beforeAll, expect, it } from "vitest";
import { attachDevChain, type DevChain, RpcError, startDevChain } from "../../src/library/index.ts";

const POOL = `0x${"5b".repeat(20)}`;
const POOL_CREDENTIALS = `0x01${"00".repeat(11)}${POOL.slice(2)}`;
const ETHER = 10n ** 9n;

let chain: DevChain<"fulu">;
beforeAll(async () => {
  const config = { SHARD_COMMITTEE_PERIOD: 0 };
  chain = await startDevChain({ validators: 16n, withdrawalCredentials: `0x01:${POOL}`, config, rpc: 0, evm: false });
});
afterAll(() => chain.stop());

it("advances, skips and reorganizes the chain", async () => {
  expect(await chain.advance()).toMatchObject({ slot: "1", head_slot: "1" });
  expect(await chain.advance({ slots: 2n })).toMatchObject({ slot: "3", head_slot: "3" });
  expect(await chain.skip()).toMatchObject({ slot: "4", head_slot: "3" });
  expect(await chain.advanceUntil({ epoch: 1 })).toMatchObject({ slot: "8", epoch: "1" });
  const { old_head, new_head } = await chain.reorg();
  expect(new_head.root).not.toBe(old_head.root);
  await expect(chain.advanceUntil("finalized", { limit: 1 })).rejects.toBeInstanceOf(RpcError);
});

it("reads the head, blocks, states and validators", async () => {
  const { head_slot, head_block_root } = await chain.head();
  const { message } = await chain.block();
  expect(message.slot).toBe(head_slot);
  expect(message.body.execution_requests).toEqual({ deposits: [], withdrawals: [], consolidations: [] });
  expect((await chain.block(head_block_root)).message).toEqual(message);
  expect((await chain.state(BigInt(head_slot))).proposer_lookahead).not.toEqual([]);
  expect(await chain.validators.list()).toHaveLength(16);
  expect((await chain.validators.list({ id: [3n] }))[0]).toEqual(await chain.validator(3).get());
  expect(await chain.validator(3).balance("genesis")).toBe(32n * ETHER);
});

it("proves parts of states and blocks", async () => {
  const proof = await chain.prove.validator(3, "withdrawal_credentials");
  expect(proof).toMatchObject({ value: POOL_CREDENTIALS, root: proof.state_root });
  const { pubkey } = (await chain.validator(3).get()).validator;
  expect(await chain.prove.validator(pubkey, "withdrawal_credentials")).toEqual(proof);
  const whole = await chain.prove.validator(3, undefined, { state: "genesis" });
  expect(whole).toMatchObject({ slot: "0", depth: String(Number(proof.depth) - 3) });
  const { head_slot } = await chain.head();
  expect((await chain.prove.block(["slot"])).value).toBe(head_slot);
  await chain.advanceUntil("block");
  const { root, block_root, timestamp } = await chain.prove.state(["slot"], { state: head_slot, upTo: "block" });
  expect(root).toBe(block_root);
  const seconds: string = timestamp;
  expect(seconds).toMatch(/^\d+$/);
  const ofValidator = await chain.prove.validator(3, undefined, { state: head_slot, upTo: "block" });
  expect(ofValidator.timestamp satisfies string).toBe(timestamp);
  // @ts-expect-error a proof up to the state may have no timestamp.
  (await chain.prove.state(["slot"])).timestamp satisfies string;
});

it("rejects a proof up to a block that was reorganized away", async () => {
  const { head_slot } = await chain.advance();
  const { state_root } = await chain.prove.state(["slot"], { state: head_slot });
  await chain.reorg();
  await expect(chain.prove.state(["slot"], { state: state_root, upTo: "block" })).rejects.toThrow(
    `of slot ${head_slot} is not on the canonical chain, so contracts do not know its root.`,
  );
});

it("rejects a proof up to a block without a child, whose root contracts do not know", async () => {
  const { head_slot } = await chain.head();
  const proof = chain.prove.validator(3, "slashed", { upTo: "block" });
  await expect(proof).rejects.toThrow(
    `The block of slot ${head_slot} has no child yet, so contracts do not know its root. ` +
      `Run chain.advanceUntil("block") first, then prove { state: ${head_slot}, upTo: "block" }.`,
  );
  // Explorers prove the head, too.
  const raw = await chain.client.getStateProof({ state_id: "head", path: ["slot"], up_to: "block" });
  expect(raw.timestamp).toBeNull();
});

it("shows the form of a duration", async () => {
  await expect(chain.advance(5 as never)).rejects.toThrow(
    "chain.advance takes an object, got 5. Write chain.advance({ slots: 5 }).",
  );
  await expect(chain.skip("finalized" as never)).rejects.toThrow("Write chain.skip({ slots: 3 }).");
  const { slot } = await chain.client.getChainTime();
  for (const slots of [Number.NaN, Number.POSITIVE_INFINITY]) {
    await expect(chain.advance({ slots })).rejects.toThrow(
      `The parameter "slots" of dev_advance must be a finite number, got ${slots}.`,
    );
  }
  await expect(chain.skip({ epochs: Number.NaN })).rejects.toThrow('The parameter "epochs" of dev_skip');
  for (const empty of [{}, { slots: undefined }]) {
    await expect(chain.advance(empty as never)).rejects.toThrow(
      "chain.advance got neither slots nor epochs. Write chain.advance({ slots: 3 }), or chain.advance() for one slot.",
    );
  }
  await expect(chain.advanceUntil(undefined as never)).rejects.toThrow(
    'chain.advanceUntil takes a condition. Write chain.advanceUntil("finalized").',
  );
  await expect(chain.skip({ slots: 1, signal: AbortSignal.abort() } as never)).rejects.toThrow(
    "chain.skip takes signal in its second argument. Write chain.skip({ slots: 3 }, { signal }).",
  );
  expect((await chain.client.getChainTime()).slot).toBe(slot);
});

it("names the option of a chain without the EVM", async () => {
  await expect(chain.eth.request({ method: "eth_blockNumber" })).rejects.toThrow("in the library, remove `evm: false`");
  const { accounts } = chain;
  expect(accounts).toEqual([]);
});

it("signs the same key again until its deposit is made", async () => {
  const sign = async (count: number) =>
    (await chain.validators.deposit({ count, submit: false })).map(({ data }) => data.pubkey);
  const [first] = await sign(1);
  expect(await sign(1)).toEqual([first]);
  const two = await sign(2);
  expect(two[0]).toBe(first);
  expect(new Set(two).size).toBe(2);
});

it("creates the operations of a validator, which the next block has", async () => {
  const [slashing] = await chain.validator(3).slash();
  expect(slashing).toMatchObject({
    type: "proposer_slashing",
    data: { signed_header_1: { message: { proposer_index: "3" } } },
  });
  expect((await chain.validator(5).exit()).data.message.validator_index).toBe("5");
  const { data: request } = await chain.validator(6).withdraw();
  expect(request).toMatchObject({ source_address: POOL, amount: "0" });
  expect(await chain.validator(7).topUp(1n * ETHER)).toMatchObject([{ data: { amount: "1000000000" } }]);
  const change = await chain.validator(8).changeCredentials({ type: "0x02" });
  expect(change.type).toBe("consolidation_request");
  await chain.advance();
  const { proposer_slashings, voluntary_exits, execution_requests } = (await chain.block()).message.body;
  expect(proposer_slashings).toHaveLength(1);
  expect(voluntary_exits).toHaveLength(1);
  expect(execution_requests).toMatchObject({ withdrawals: [request], consolidations: [change.data] });
  expect(await chain.validator(3).status()).toBe("active_slashed");
});

it("names the unit of amounts that are given in wei", async () => {
  const wei = 32n * 10n ** 18n;
  const hint = "If that is wei, it is 32000000000 Gwei.";
  await expect(chain.validator(6).withdraw(wei)).rejects.toThrow(hint);
  const ofOne = "If that is wei, it is 1000000000 Gwei.";
  await expect(chain.validator(6).withdraw(10n ** 18n)).rejects.toThrow(ofOne);
  await expect(chain.validator(7).topUp(wei)).rejects.toThrow(hint);
  await expect(chain.validators.deposit({ amount: wei })).rejects.toThrow(hint);
});

it("deposits with the credentials of the chain, or with those given", async () => {
  const deposits = await chain.validators.deposit({ count: 2 });
  expect(deposits.map(({ data }) => data.withdrawal_credentials)).toEqual([POOL_CREDENTIALS, POOL_CREDENTIALS]);
  const credentials = `0x02${"00".repeat(11)}${"ab".repeat(20)}` as const;
  // @ts-expect-error a prefix is not the credentials.
  await expect(chain.validators.deposit({ credentials: "0x01" })).rejects.toThrow("64 hex digits");
  const [deposit] = await chain.validators.deposit({ credentials, submit: false });
  expect(deposit).toMatchObject({
    type: "deposit_data",
    status: "signed",
    data: { withdrawal_credentials: credentials },
  });
  const { DepositData } = ssz.phase0;
  expect(deposit!.deposit_data_root).toBe(toHex(DepositData.hashTreeRoot(DepositData.fromJson(deposit!.data))));
});

it("takes validators offline and back", async () => {
  expect((await chain.validators.setOffline("8-15")).online).toHaveLength(8);
  expect((await chain.validators.setOnline("all")).offline).toEqual([]);
});

it("reverts to a snapshot, at the end of a block too", async () => {
  const { slot } = await chain.advance();
  const snapshot = await chain.snapshot();
  await chain.advance({ slots: 2 });
  await snapshot.revert();
  expect((await chain.client.getChainTime()).slot).toBe(slot);
  await expect(snapshot.revert()).rejects.toThrow(
    /No snapshot .*: a revert consumes its snapshot and all later ones\./,
  );
  await snapshot[Symbol.asyncDispose]();
  {
    await using _ = await chain.snapshot();
    await chain.advance();
  }
  expect((await chain.client.getChainTime()).slot).toBe(slot);
});

it("has the same actions on a chain of another process", async () => {
  await using attached = attachDevChain<"fulu">({ url: chain.url! });
  const { head_slot } = await attached.advance();
  expect((await attached.block()).message.slot).toBe(head_slot);
  expect(await attached.head()).toEqual(await chain.head());
});
