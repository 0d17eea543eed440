/** Search result with its page. */
export interface Meaning {
  label: string;
  href: string;
}

const ROOT = /^0x[0-9a-f]{64}$/i;
const PUBKEY = /^0x[0-9a-f]{96}$/i;
const WHOLE_NUMBER = /^\d{1,15}$/;

export const SEARCH_HINT = "A slot, an epoch, a validator's index or public key, or the root of a block or a state";

/** Returns the possible results for typed input, in display order. */
export function meaningsOf(typed: string): Meaning[] {
  const text = typed.trim();
  if (WHOLE_NUMBER.test(text)) {
    const number = String(Number(text));
    return [
      { label: `Slot ${number}`, href: `#/block/${number}` },
      { label: `Epoch ${number}`, href: `#/epoch/${number}` },
      { label: `Validator ${number}`, href: `#/validator/${number}` },
    ];
  }
  if (ROOT.test(text)) {
    return [
      { label: "The block with this root", href: `#/block/${text.toLowerCase()}` },
      { label: "The state with this root", href: `#/state/${text.toLowerCase()}` },
    ];
  }
  if (PUBKEY.test(text)) {
    return [{ label: "The validator with this public key", href: `#/validator/${text.toLowerCase()}` }];
  }
  const name = text.toLowerCase();
  const state = { label: `The state "${name}"`, href: `#/state/${name}` };
  if (["head", "finalized", "genesis"].includes(name)) {
    return [{ label: `The block "${name}"`, href: `#/block/${name}` }, state];
  }
  // The Beacon API has no block id of that name.
  return name === "justified" ? [state] : [];
}
