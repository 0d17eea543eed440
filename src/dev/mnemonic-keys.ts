import { SecretKey } from "@chainsafe/blst";
import { mnemonicToSeedSync, validateMnemonic } from "@scure/bip39";
import { wordlist } from "@scure/bip39/wordlists/english";
import { nearestName } from "../errors/nearest-name.ts";
import { ImpossibleChainError } from "./impossible-chain.ts";
import { DevKeys } from "./validator-keys.ts";

const WORD_COUNTS = [12, 15, 18, 21, 24];
/** EIP-2334: BLS12-381 keys of Ethereum. */
const PURPOSE = 12381;
const COIN_TYPE = 3600;

/** The signing keys that a mnemonic has by EIP-2333 and EIP-2334: that of validator `i` has the path m/12381/3600/i/0/0. */
export class MnemonicKeys extends DevKeys {
  constructor(count: number, mnemonic: string) {
    requireMnemonic(mnemonic);
    const parent = SecretKey.deriveMasterEip2333(mnemonicToSeedSync(mnemonic))
      .deriveChildEip2333(PURPOSE)
      .deriveChildEip2333(COIN_TYPE);
    super(count, (index) => parent.deriveChildEip2333(index).deriveChildEip2333(0).deriveChildEip2333(0));
  }
}

/** What is wrong is said without the words that are right, for it ends up in terminals and logs. */
function requireMnemonic(mnemonic: string): void {
  const words = mnemonic.split(" ");
  if (!WORD_COUNTS.includes(words.length)) {
    throw new ImpossibleChainError(
      `The mnemonic cannot be used: it has ${words.length} words, and those of BIP-39 have ${WORD_COUNTS.slice(0, -1).join(", ")} or ${WORD_COUNTS.at(-1)}.`,
    );
  }
  const unknown = words.findIndex((word) => !wordlist.includes(word));
  if (unknown !== -1) {
    const nearest = nearestName(words[unknown]!, wordlist);
    const hint = nearest === undefined ? "" : ` Did you mean "${nearest}"?`;
    throw new ImpossibleChainError(
      `The mnemonic cannot be used: its word ${unknown + 1}, "${words[unknown]}", is none of the English words of BIP-39.${hint}`,
    );
  }
  if (!validateMnemonic(mnemonic, wordlist)) {
    throw new ImpossibleChainError(
      "The mnemonic cannot be used: its checksum is wrong, so that a word is another one or stands in another place.",
    );
  }
}
