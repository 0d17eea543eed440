import { SecretKey } from "@chainsafe/blst";
import { mnemonicToSeedSync, validateMnemonic } from "@scure/bip39";
import { wordlist } from "@scure/bip39/wordlists/english";
import { nearestName } from "../errors/nearest-name.ts";
import { InvalidChainError } from "./invalid-chain-error.ts";
import { DevKeys } from "./validator-keys.ts";

const WORD_COUNTS = [12, 15, 18, 21, 24];
/** Purpose for BLS12-381 keys (EIP-2334). */
const PURPOSE = 12381;
const COIN_TYPE = 3600;

/**
 * Derives signing keys from a mnemonic according to EIP-2333 and EIP-2334. Validator `i` has the path
 * m/12381/3600/i/0/0.
 */
export class MnemonicKeys extends DevKeys {
  constructor(count: number, mnemonic: string) {
    requireMnemonic(mnemonic);
    const parent = SecretKey.deriveMasterEip2333(mnemonicToSeedSync(mnemonic))
      .deriveChildEip2333(PURPOSE)
      .deriveChildEip2333(COIN_TYPE);
    super(count, (index) => parent.deriveChildEip2333(index).deriveChildEip2333(0).deriveChildEip2333(0));
  }
}

/**
 * Throws if the mnemonic is invalid. The message never shows valid words, since messages end up in terminals and logs.
 */
function requireMnemonic(mnemonic: string): void {
  const words = mnemonic.split(" ");
  if (!WORD_COUNTS.includes(words.length)) {
    throw new InvalidChainError(
      `Invalid mnemonic: it has ${words.length} words. A BIP-39 mnemonic has ` +
        `${WORD_COUNTS.slice(0, -1).join(", ")} or ${WORD_COUNTS.at(-1)}.`,
    );
  }
  const unknown = words.findIndex((word) => !wordlist.includes(word));
  if (unknown !== -1) {
    const nearest = nearestName(words[unknown]!, wordlist);
    const hint = nearest === undefined ? "" : ` Did you mean "${nearest}"?`;
    throw new InvalidChainError(
      `Invalid mnemonic: word ${unknown + 1}, "${words[unknown]}", is not in the English BIP-39 word list.${hint}`,
    );
  }
  if (!validateMnemonic(mnemonic, wordlist)) {
    throw new InvalidChainError("Invalid mnemonic: its checksum is wrong. A word is replaced or misplaced.");
  }
}
