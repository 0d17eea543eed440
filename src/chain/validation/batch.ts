import type { ISignatureSet } from "@lodestar/state-transition";
import type { ValidationContext } from "./context.ts";
import { type GossipErrorReason, type Outcome, outcomeOf, reject } from "./outcome.ts";

/** A signature to verify. `reason` and `message` describe the error if it is invalid. */
export interface SignatureClaim {
  set: ISignatureSet;
  reason: GossipErrorReason;
  message: string;
}

/** An object that passed all rules except signatures. */
export interface Candidate<T> {
  value: T;
  signatures: SignatureClaim[];
}

interface BatchRules<Item, T> {
  /**
   * Checks all rules that do not involve signatures. Throws a `GossipValidationError`. `index` is the position in the
   * batch.
   */
  examine(item: Item, index: number): Promise<Candidate<T>>;
  /**
   * Marks the object as seen and returns the part of it that is still new. Throws if an equal object, from this batch
   * or a concurrent one, was accepted after `examine`.
   */
  claim(value: T): T;
}

/** Validates items against the rules and verifies all their signatures in one batch. Returns one outcome per item. */
export async function validateBatch<Item, T>(
  { bls }: Pick<ValidationContext, "bls">,
  items: readonly Item[],
  rules: BatchRules<Item, T>,
): Promise<Outcome<T>[]> {
  const candidates = await Promise.all(items.map((item, index) => outcomeOf(() => rules.examine(item, index))));
  const claims = candidates.flatMap((candidate) => (candidate.ok ? candidate.value.signatures : []));
  const verdicts = claims.length === 0 ? [] : await bls.verifyEach(claims.map(({ set }) => set));
  const invalidClaims = new Set(claims.filter((_, index) => verdicts[index] !== true));

  return Promise.all(
    candidates.map((candidate) => {
      if (!candidate.ok) return candidate;
      const { value, signatures } = candidate.value;
      return outcomeOf(() => {
        const invalidClaim = signatures.find((signature) => invalidClaims.has(signature));
        if (invalidClaim) throw reject(invalidClaim.reason, invalidClaim.message);
        return rules.claim(value);
      });
    }),
  );
}
