import { interopSecretKey } from "@lodestar/state-transition";
import { decryptEIP2335Keystore } from "micro-eth-signer/keystore.js";
import { expect, it } from "vitest";
import { createKeystore } from "./keystore.ts";

type AnyKeystore = Parameters<typeof decryptEIP2335Keystore>[0];

it("is decrypted by another EIP-2335 library, with the right password only", async () => {
  const secretKey = interopSecretKey(3);
  const keystore = await createKeystore({
    secretKey: secretKey.toBytes(),
    publicKey: secretKey.toPublicKey().toBytes(),
    path: "m/12381/3600/3/0/0",
    password: "right",
    description: "",
  });
  const read = JSON.parse(JSON.stringify(keystore)) as AnyKeystore;
  expect(decryptEIP2335Keystore(read, "right")).toEqual(secretKey.toBytes());
  expect(() => decryptEIP2335Keystore(read, "wrong")).toThrow();
});
