import { createECDH, createHmac, pbkdf2Sync } from "node:crypto";

/** The mnemonic that anvil and hardhat use, too. */
export const TEST_MNEMONIC = "test test test test test test test test test test test junk";
/** First ten accounts of the test mnemonic, at m/44'/60'/0'/0/i. */
export const FUNDED_ADDRESSES: readonly string[] = [
  "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266",
  "0x70997970c51812dc3a010c7d01b50e0d17dc79c8",
  "0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc",
  "0x90f79bf6eb2c4f870365e785982e1f101e93b906",
  "0x15d34aaf54267db7d7c367839aaf71a00a2c6a65",
  "0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc",
  "0x976ea74026e726554db657fa54763abd0c3a0aa9",
  "0x14dc79964da2c08b23698b3d3cc7ca32193d9955",
  "0x23618e81e3f5cdf7f54c3d65f7fbc0abf5b21e8f",
  "0xa0ee7a142d267c1f36714e4a8f75612f20a79720",
];

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
