import { SecretKey } from "@chainsafe/blst";
import { toHex } from "@lodestar/utils";
import { expect, it } from "vitest";
import { Caller } from "../support/api/caller.ts";
import { openDevChain } from "../support/chain/dev-chain.ts";

it("returns the actual validator keys, whatever their source", async () => {
  const address = `0x${"ab".repeat(20)}`;
  const { devChain } = await openDevChain({
    forks: [{ fork: "fulu", epoch: 0 }],
    keys: { kind: "mnemonic", mnemonic: `${"abandon ".repeat(11)}about` },
    withdrawals: [{ range: { first: 3, last: 3 }, value: { prefix: "0x02", address } }],
  });
  const caller = new Caller(devChain.api);
  const keys = await caller.call("dev_keys");
  const validators = await caller.call("get_v1_beacon_states_stateId_validators", ["head"]);
  expect(keys).toEqual(
    validators.map(({ index, validator }: { index: string; validator: Record<string, string> }) => ({
      index,
      pubkey: validator.pubkey,
      secret_key: expect.any(String),
      withdrawal_credentials: validator.withdrawal_credentials,
    })),
  );
  for (const { pubkey, secret_key } of keys) {
    expect(toHex(SecretKey.fromHex(secret_key).toPublicKey().toBytes())).toBe(pubkey);
  }
  expect(keys[3].withdrawal_credentials).toBe(`0x02${"00".repeat(11)}${address.slice(2)}`);
  expect(await caller.call("dev_keys", { first: 2, last: "4" })).toEqual(keys.slice(2, 5));
  expect(await caller.call("dev_keys", [14])).toEqual(keys.slice(14));
  expect(await caller.error("dev_keys", [16])).toMatchObject({
    message: expect.stringContaining("validators 0 to 15"),
  });

  // Validators with other than interop keys propose and attest.
  await devChain.clock.advanceTo(4 * 8);
  expect(devChain.chain.forkChoice.finalized.epoch).toBe(2);
});
