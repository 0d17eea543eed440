import type { KeySource } from "./genesis-parameters.ts";
import { InteropKeys } from "./interop-keys.ts";
import { MnemonicKeys } from "./mnemonic-keys.ts";
import type { DevKeys } from "./validator-keys.ts";

/** The keys of so many validators; those of the interop tests unless others are wanted. */
export function openKeys(source: KeySource | undefined, count: number): DevKeys {
  if (source?.kind === "mnemonic") return new MnemonicKeys(count, source.mnemonic);
  return new InteropKeys(count, source?.first);
}
