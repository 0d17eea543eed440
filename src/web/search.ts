/** A search result and its page. */
export interface Meaning {
  label: string;
  href: string;
}

/** The known part of the chain. If omitted, every number is assumed to exist. */
export interface SearchContext {
  currentSlot: number;
  slotsPerEpoch: number;
  validators: number | undefined;
  /** Recent blocks. */
  blocks: readonly { root: string; slot: number; lane: number }[];
  /** Validators whose public keys may match the typed digits. */
  keys?: readonly { index: string; pubkey: string }[];
}

const ROOT = /^0x[0-9a-f]{64}$/;
const PUBKEY = /^0x[0-9a-f]{96}$/;
const HEX_PREFIX = /^0x[0-9a-f]{2,95}$/;
const WHOLE_NUMBER = /^\d{1,15}$/;
/** Maximum number of results of each kind for a prefix. */
export const MAX_MATCHES = 5;

export const SEARCH_HINT = "A slot, an epoch, a validator's index or public key, or the root of a block or a state";

/** Returns typed input if it is the beginning of a root or public key. */
export function hexPrefix(typed: string): `0x${string}` | undefined {
  const text = typed.trim().toLowerCase();
  return HEX_PREFIX.test(text) ? (text as `0x${string}`) : undefined;
}

/**
 * Returns the possible results for typed input, in display order. For a number beyond the end of the chain, suggests
 * the nearest slot, epoch or validator.
 */
export function meaningsOf(typed: string, context?: SearchContext): Meaning[] {
  const text = typed.trim().toLowerCase();
  if (WHOLE_NUMBER.test(text)) {
    const number = Number(text);
    return [...slotMeanings(number, context), epochMeaning(number, context), validatorMeaning(number, context)];
  }
  if (PUBKEY.test(text)) return [{ label: "The validator with this public key", href: `#/validator/${text}` }];
  if (ROOT.test(text)) {
    const block = context?.blocks.find(({ root }) => root === text);
    if (block) return [blockMeaning(block)];
    return [
      { label: "The block with this root", href: `#/block/${text}` },
      { label: "The state with this root", href: `#/state/${text}` },
    ];
  }
  if (HEX_PREFIX.test(text)) return prefixMeanings(text, context);
  const state = { label: `The state "${text}"`, href: `#/state/${text}` };
  if (["head", "finalized", "genesis"].includes(text)) {
    return [{ label: `The block "${text}"`, href: `#/block/${text}` }, state];
  }
  // The Beacon API has no such block id.
  return text === "justified" ? [state] : [];
}

function slotMeanings(slot: number, context: SearchContext | undefined): Meaning[] {
  const exact = { label: `Slot ${slot}`, href: `#/block/${slot}` };
  if (!context) return [exact];
  if (slot > context.currentSlot) return [nearest("Slot", context.currentSlot, "block")];
  const chain = context.blocks.filter(({ lane }) => lane === 0).map((block) => block.slot);
  const isEmpty = !chain.includes(slot) && slot > Math.min(...chain);
  if (!isEmpty) return [exact];
  const before = Math.max(...chain.filter((other) => other < slot));
  const after = Math.min(...chain.filter((other) => other > slot));
  return [
    { ...exact, label: `Slot ${slot}, without a block` },
    ...[before, after].filter(Number.isFinite).map((other) => nearest("Slot", other, "block", "nearest block")),
  ];
}

function epochMeaning(epoch: number, context: SearchContext | undefined): Meaning {
  // The next epoch's duties are known.
  const last = context && Math.floor(context.currentSlot / context.slotsPerEpoch) + 1;
  if (last !== undefined && epoch > last) return nearest("Epoch", last - 1, "epoch");
  return { label: `Epoch ${epoch}`, href: `#/epoch/${epoch}` };
}

function validatorMeaning(index: number, context: SearchContext | undefined): Meaning {
  const last = context?.validators === undefined ? index : context.validators - 1;
  if (index > last) return nearest("Validator", last, "validator", "last");
  return { label: `Validator ${index}`, href: `#/validator/${index}` };
}

function nearest(name: string, number: number, page: string, why = "latest"): Meaning {
  return { label: `${name} ${number}, the ${why}`, href: `#/${page}/${number}` };
}

function prefixMeanings(prefix: string, context: SearchContext | undefined): Meaning[] {
  const blocks = (context?.blocks ?? []).filter(({ root }) => root.startsWith(prefix)).slice(0, MAX_MATCHES);
  const validators = (context?.keys ?? []).filter(({ pubkey }) => pubkey.startsWith(prefix)).slice(0, MAX_MATCHES);
  return [
    ...blocks.map(blockMeaning),
    ...validators.map(({ index, pubkey }) => ({
      label: `Validator ${index}, ${pubkey.slice(0, 14)}…`,
      href: `#/validator/${index}`,
    })),
  ];
}

function blockMeaning({ root, slot, lane }: SearchContext["blocks"][number]): Meaning {
  return {
    label: `Block of slot ${slot}${lane === 0 ? "" : ", orphaned"}, ${root.slice(0, 14)}…`,
    href: `#/block/${root}`,
  };
}
