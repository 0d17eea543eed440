import { createHash } from "node:crypto";
import { DOMAIN_BLS_TO_EXECUTION_CHANGE, ForkName } from "@lodestar/params";
import { computeSigningRoot } from "@lodestar/state-transition";
import { type capella, ssz } from "@lodestar/types";
import { afterEach, beforeEach, expect, it } from "vitest";
import { refusalOf, TestChain } from "../../../test/support/chain/validation/validation-chain.ts";
import { validateBlsChange } from "./bls-change.ts";
import type { Origin } from "./outcome.ts";

let chain: TestChain;
beforeEach(() => {
  chain = new TestChain("fulu");
  chain.extend(1);
});
afterEach(() => chain.close());

function changeOf(
  validatorIndex: number,
  { keyOf = validatorIndex, signedBy = validatorIndex, address = 0xaa } = {},
): capella.SignedBLSToExecutionChange {
  const message = {
    validatorIndex,
    fromBlsPubkey: chain.keys.publicKey(keyOf)!,
    toExecutionAddress: new Uint8Array(20).fill(address),
  };
  // capella/beacon-chain.md, process_bls_to_execution_change: signed with the genesis fork version, regardless of the
  // fork.
  const domain = chain.config.getDomainAtFork(ForkName.phase0, DOMAIN_BLS_TO_EXECUTION_CHANGE);
  const signingRoot = computeSigningRoot(ssz.capella.BLSToExecutionChange, message, domain);
  return { message, signature: chain.sign(signedBy, signingRoot) };
}
const validate = (change: capella.SignedBLSToExecutionChange, origin: Origin = "gossip") =>
  validateBlsChange(chain.context, change, origin);

it("accepts a valid change and recognizes it once it is in the pool", async () => {
  const change = changeOf(3);
  await validate(change);
  chain.operations.addBlsToExecutionChange(change);
  expect(await refusalOf(validate(change))).toMatchObject({ action: "ignore", reason: "already-known", known: true });
  expect(await refusalOf(validate(changeOf(3, { address: 0xbb })))).toMatchObject({ action: "ignore", known: true });
});

it("reports problems to a client even if another change is in the pool", async () => {
  chain.operations.addBlsToExecutionChange(changeOf(3));
  const forged = changeOf(3, { address: 0xbb, signedBy: 4 });
  expect(await refusalOf(validate(forged))).toMatchObject({ action: "ignore", known: true });
  expect(await refusalOf(validate(forged, "client"))).toMatchObject({ reason: "bad-signature", known: false });
  await validate(changeOf(3, { address: 0xbb }), "client");
});

it("rejects an unknown validator", async () => {
  const change = changeOf(3);
  change.message.validatorIndex = 64;
  expect(await refusalOf(validate(change))).toMatchObject({ action: "reject", reason: "unknown-validator" });
});

it("rejects a key that does not match the credentials", async () => {
  expect(await refusalOf(validate(changeOf(3, { keyOf: 4, signedBy: 4 })))).toMatchObject({
    action: "reject",
    reason: "wrong-withdrawal-key",
  });
});

it("rejects an invalid signature", async () => {
  expect(await refusalOf(validate(changeOf(3, { signedBy: 4 })))).toMatchObject({
    action: "reject",
    reason: "bad-signature",
  });
});

it.each([
  [1, `already execution credentials with address 0x${"00".repeat(20)}`],
  [2, `already execution credentials with address 0x${"00".repeat(20)}`],
  [3, `0x03${"00".repeat(31)}, are not BLS credentials`],
])("rejects credentials with prefix %i", async (prefix, why) => {
  const credentials = new Uint8Array(32);
  credentials[0] = prefix;
  const state = chain.headState;
  state.validators.get(3).withdrawalCredentials = credentials;
  state.commit();
  expect(await refusalOf(validate(changeOf(3)))).toMatchObject({
    action: "reject",
    reason: "no-bls-credentials",
    message: expect.stringContaining(why),
  });
});

it("rejects credentials derived from invalid key bytes", async () => {
  const noKey = new Uint8Array(48).fill(0xff);
  const credentials = new Uint8Array(createHash("sha256").update(noKey).digest());
  credentials[0] = 0;
  const state = chain.headState;
  state.validators.get(3).withdrawalCredentials = credentials;
  state.commit();
  const change = changeOf(3);
  change.message.fromBlsPubkey = noKey;
  expect(await refusalOf(validate(change))).toMatchObject({ action: "reject", reason: "bad-signature" });
});

it("ignores changes before Capella", async () => {
  const early = new TestChain("bellatrix");
  expect(await refusalOf(validateBlsChange(early.context, changeOf(3), "gossip"))).toMatchObject({
    action: "ignore",
    reason: "wrong-fork",
  });
  await early.close();
});
