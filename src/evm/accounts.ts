import { createECDH, createHmac, pbkdf2Sync } from "node:crypto";
import { FUNDED_ADDRESSES, TEST_MNEMONIC } from "./genesis.ts";

/** Order of secp256k1. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const HARDENED = 0x8000_0000;
/** m/44'/60'/0'/0 (BIP-44). */
const ACCOUNTS_PATH = [44 + HARDENED, 60 + HARDENED, HARDENED, 0];
const BIP39_ROUNDS = 2048;

interface ExtendedKey {
  privateKey: Uint8Array;
  chainCode: Uint8Array;
}

/** An account whose private key is known. */
export interface DevAccount {
  address: Uint8Array;
  privateKey: Uint8Array;
}

let accounts: readonly DevAccount[] | undefined;

/** Returns the funded accounts of a dev chain with their private keys, derived from the test mnemonic. */
export function devAccountKeys(): readonly DevAccount[] {
  accounts ??= deriveAccounts();
  return accounts;
}

function deriveAccounts(): DevAccount[] {
  const seed = pbkdf2Sync(TEST_MNEMONIC, "mnemonic", BIP39_ROUNDS, 64, "sha512");
  const parent = ACCOUNTS_PATH.reduce(derive, extendedKey(createHmac("sha512", "Bitcoin seed").update(seed).digest()));
  return FUNDED_ADDRESSES.map((address, index) => ({
    address: new Uint8Array(Buffer.from(address.slice(2), "hex")),
    privateKey: derive(parent, index).privateKey,
  }));
}

/** BIP-32, CKDpriv. */
function derive({ privateKey, chainCode }: ExtendedKey, index: number): ExtendedKey {
  const number = Buffer.alloc(4);
  number.writeUInt32BE(index);
  const hmac = createHmac("sha512", chainCode);
  if (index >= HARDENED) hmac.update(Uint8Array.of(0)).update(privateKey);
  else hmac.update(publicKeyOf(privateKey));
  const child = extendedKey(hmac.update(number).digest());
  const sum = (toNumber(child.privateKey) + toNumber(privateKey)) % ORDER;
  return { ...child, privateKey: Buffer.from(sum.toString(16).padStart(64, "0"), "hex") };
}

function extendedKey(digest: Buffer): ExtendedKey {
  return { privateKey: digest.subarray(0, 32), chainCode: digest.subarray(32) };
}

function publicKeyOf(privateKey: Uint8Array): Buffer {
  const ecdh = createECDH("secp256k1");
  ecdh.setPrivateKey(privateKey);
  return ecdh.getPublicKey(null, "compressed");
}

const toNumber = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
