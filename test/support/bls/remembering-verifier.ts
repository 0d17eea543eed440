import { type ISignatureSet, SignatureSetType } from "@lodestar/state-transition";
import type { ValidatorIndex } from "@lodestar/types";
import { type BlsVerifier, type BlsVerifierOptions, createBlsVerifier } from "../../../src/bls/verifier.ts";
import { rememberedSecret, rememberedSignature } from "./remembered-signatures.ts";
import { takeVerificationThread } from "./verification-threads.ts";

/**
 * Skips verification of signatures that were made in this process and are known to be valid. All other signatures are
 * verified, including those that differ from the cache.
 */
export function createRememberingVerifier(options: BlsVerifierOptions): BlsVerifier {
  const { pubkeyCache } = options;
  const verifier = createBlsVerifier({ startWorker: takeVerificationThread, ...options });
  const secrets = new Map<ValidatorIndex, bigint>();

  function secretOf(index: ValidatorIndex): bigint | undefined {
    const known = secrets.get(index);
    if (known !== undefined) return known;
    const publicKey = pubkeyCache.get(index);
    const secret = publicKey && rememberedSecret(publicKey);
    if (secret !== undefined) secrets.set(index, secret);
    return secret;
  }

  function signersOf(set: ISignatureSet): (bigint | undefined)[] {
    if (set.type === SignatureSetType.single) return [rememberedSecret(set.pubkey)];
    return (set.type === SignatureSetType.indexed ? [set.index] : set.indices).map(secretOf);
  }

  function isRemembered(set: ISignatureSet): boolean {
    const all = signersOf(set);
    const signers = all.filter((secret) => secret !== undefined);
    if (signers.length === 0 || signers.length < all.length) return false;
    const signature = rememberedSignature(signers, set.signingRoot);
    return signature !== undefined && Buffer.compare(signature.toBytes(), set.signature) === 0;
  }

  return {
    async verify(sets) {
      return verifier.verify(sets.filter((set) => !isRemembered(set)));
    },

    async verifyEach(sets) {
      const others = sets.filter((set) => !isRemembered(set));
      const verdicts = await verifier.verifyEach(others);
      const byOther = new Map(others.map((set, index) => [set, verdicts[index]!]));
      return sets.map((set) => byOther.get(set) ?? true);
    },

    close: () => verifier.close(),
  };
}
