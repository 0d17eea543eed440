import { asBigint, asBytes, asList, decode, type RlpItem } from "../../rlp.ts";
import { data, quantity } from "./hex.ts";
import type { Json } from "./transaction-json.ts";

const WORD = 32;

/** Converts a block access list from RLP to the `BlockAccessList` type of execution-apis (EIP-7928). */
export function accessListJson(encoded: Uint8Array): Json[] {
  return asList(decode(encoded)).map((item) => {
    const [address, slots, reads, balances, nonces, codes] = asList(item);
    const values = (value: RlpItem | undefined) => ({ value: quantity(asBigint(value)) });
    return {
      address: data(asBytes(address)),
      storageChanges: asList(slots).map((slot) => {
        const [key, changes] = asList(slot);
        return { key: word(key), changes: changesJson(changes, (value) => ({ value: word(value) })) };
      }),
      storageReads: asList(reads).map(word),
      balanceChanges: changesJson(balances, values),
      nonceChanges: changesJson(nonces, values),
      codeChanges: changesJson(codes, (code) => ({ code: data(asBytes(code)) })),
    };
  });
}

function changesJson(item: RlpItem | undefined, valueJson: (value: RlpItem | undefined) => Json): Json[] {
  return asList(item).map((change) => {
    const [index, value] = asList(change);
    return { index: quantity(asBigint(index)), ...valueJson(value) };
  });
}

/** Encodes a number without leading zeros as 32 bytes. */
function word(item: RlpItem | undefined): string {
  const bytes = asBytes(item);
  const padded = new Uint8Array(WORD);
  padded.set(bytes, WORD - bytes.length);
  return data(padded);
}
