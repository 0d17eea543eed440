import type { ISignatureSet } from "@lodestar/state-transition";
import type { ValidationContext } from "./context.ts";
import { type Outcome, outcomeOf, type RefusalReason, reject } from "./outcome.ts";

/** A signature, and what to say when it is not good. */
export interface SignatureClaim {
  set: ISignatureSet;
  reason: RefusalReason;
  message: string;
}

/** An object that passed every rule but those about its signatures. */
export interface Candidate<T> {
  value: T;
  signatures: SignatureClaim[];
}

interface BatchRules<Item, T> {
  /** All rules that need no signature; throws a refusal. `index` is where in the list the item stands. */
  examine(item: Item, index: number): Promise<Candidate<T>>;
  /**
   * Remembers the object as seen, or refuses it when an equal one was accepted since it was examined: that may have
   * been an earlier item of the same list, or one of another list whose signatures were verified meanwhile. Returns
   * what is left to accept.
   */
  claim(value: T): T;
}

/** Applies the rules to every item, with the signatures of all of them verified together. */
export async function validateBatch<Item, T>(
  { bls }: Pick<ValidationContext, "bls">,
  items: readonly Item[],
  rules: BatchRules<Item, T>,
): Promise<Outcome<T>[]> {
  const candidates = await Promise.all(items.map((item, index) => outcomeOf(() => rules.examine(item, index))));
  const claims = candidates.flatMap((candidate) => (candidate.ok ? candidate.value.signatures : []));
  const verdicts = claims.length === 0 ? [] : await bls.verifyEach(claims.map(({ set }) => set));
  const badClaims = new Set(claims.filter((_, index) => verdicts[index] !== true));

  return Promise.all(
    candidates.map((candidate) => {
      if (!candidate.ok) return candidate;
      const { value, signatures } = candidate.value;
      return outcomeOf(() => {
        const bad = signatures.find((signature) => badClaims.has(signature));
        if (bad) throw reject(bad.reason, bad.message);
        return rules.claim(value);
      });
    }),
  );
}
