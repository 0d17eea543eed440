import type { KeySource } from "./genesis-parameters.ts";
import { InteropKeys } from "./interop-keys.ts";
import { MnemonicKeys } from "./mnemonic-keys.ts";
import type { DevKeys } from "./validator-keys.ts";

/** Creates the keys of `count` validators from the source, which defaults to interop keys. */
export function createKeys(source: KeySource | undefined, count: number): DevKeys {
  if (source?.kind === "mnemonic") return new MnemonicKeys(count, source.mnemonic);
  return new InteropKeys(count, source?.first);
}
