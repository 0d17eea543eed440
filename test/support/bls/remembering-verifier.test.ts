import { aggregateSignatures } from "@chainsafe/blst";
import { type ISignatureSet, interopSecretKeys, SignatureSetType } from "@lodestar/state-transition";
import { expect, it, onTestFinished } from "vitest";
import { FlatPubkeys } from "../../../src/bls/flat-pubkeys.ts";
import { type BlsVerifier, createBlsVerifier } from "../../../src/bls/verifier.ts";
import { createRememberingVerifier } from "./remembering-verifier.ts";

const keys = interopSecretKeys(8);
const pubkeyCache = new FlatPubkeys();
keys.forEach((key, index) => {
  pubkeyCache.set(index, key.toPublicKey().toBytes());
});

const message = (value: number) => new Uint8Array(32).fill(value);
const signed = (signers: readonly number[], signingRoot: Uint8Array) =>
  aggregateSignatures(signers.map((signer) => keys[signer]!.sign(signingRoot))).toBytes();

function indexed(index: number, signingRoot = message(1), signature = signed([index], signingRoot)): ISignatureSet {
  return { type: SignatureSetType.indexed, index, signingRoot, signature };
}

function aggregate(indices: number[], signature = signed(indices, message(1))): ISignatureSet {
  return { type: SignatureSetType.aggregate, indices, signingRoot: message(1), signature };
}

function flipped(bytes: Uint8Array): Uint8Array {
  return bytes.map((byte, index) => (index === bytes.length - 1 ? byte ^ 1 : byte));
}

const SETS: Record<string, ISignatureSet> = {
  "of one key": indexed(1),
  "of a key that is given": {
    type: SignatureSetType.single,
    pubkey: keys[2]!.toPublicKey(),
    signingRoot: message(1),
    signature: signed([2], message(1)),
  },
  "of several keys": aggregate([1, 2, 3]),
  "of a key twice": aggregate([4, 4]),
  "of another key": indexed(1, message(1), signed([2], message(1))),
  "over another message": indexed(1, message(1), signed([1], message(2))),
  "with another byte": indexed(1, message(1), flipped(signed([1], message(1)))),
  "of fewer keys": aggregate([1, 2, 3], signed([1, 2], message(1))),
  "of more keys": aggregate([1, 2], signed([1, 2, 3], message(1))),
  "of nobody": aggregate([], signed([1], message(1))),
};

function open(create: typeof createBlsVerifier): BlsVerifier {
  const verifier = create({ pubkeyCache });
  onTestFinished(() => verifier.close());
  return verifier;
}

it("the verdict on a signature of this process equals that of the real verifier", async () => {
  const [real, remembering] = [open(createBlsVerifier), open(createRememberingVerifier)];
  const all = Object.values(SETS);
  const expected = await real.verifyEach(all);
  expect(expected).toContain(true);
  expect(expected).toContain(false);
  expect(await remembering.verifyEach(all)).toEqual(expected);
  for (const [what, set] of Object.entries(SETS)) {
    expect(await remembering.verify([set]), what).toBe(await real.verify([set]));
    expect(await remembering.verify([indexed(5), set]), what).toBe(await real.verify([indexed(5), set]));
  }
});
