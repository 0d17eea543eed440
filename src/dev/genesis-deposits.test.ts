import { interopSecretKey } from "@lodestar/state-transition";
import { toHex } from "@lodestar/utils";
import { expect, it } from "vitest";
import { devChainConfig } from "./chain-config.ts";
import { depositSigningRoot, genesisDeposits, isDepositSignatureValid } from "./genesis-deposits.ts";
import { InteropKeys } from "./interop-keys.ts";

const config = devChainConfig({ forks: [{ fork: "fulu", epoch: 0 }], slotSeconds: 6, genesisTime: 1_700_000_000 });

it("has the deposits of the default chain recorded", async () => {
  const recorded = genesisDeposits(config, new InteropKeys(64)).map((deposit, index) => {
    const secretKey = interopSecretKey(index);
    const pubkey = secretKey.toPublicKey().toBytes();
    const signingRoot = depositSigningRoot(config, { ...deposit, pubkey });
    const signature = secretKey.sign(signingRoot).toBytes();
    return { pubkey: toHex(pubkey), signingRoot: toHex(signingRoot), signature: toHex(signature) };
  });
  await expect(`${JSON.stringify(recorded, null, 2)}\n`).toMatchFileSnapshot("./recorded-deposits.json");
});

it("signs other deposits", () => {
  const keys = new InteropKeys(3, 63);
  const deposits = genesisDeposits(config, keys, { balances: [{ value: 40e9 }] });
  expect(deposits.map((deposit) => isDepositSignatureValid(config, deposit))).toEqual([true, true, true]);
  expect(genesisDeposits(config, keys, { balances: [{ value: 40e9 }] })).toEqual(deposits);
});
