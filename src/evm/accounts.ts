import { createECDH, createHmac, pbkdf2Sync } from "node:crypto";

/** The mnemonic that anvil and hardhat use, too. */
export const TEST_MNEMONIC = "test test test test test test test test test test test junk";
/** First ten accounts of the test mnemonic, at m/44'/60'/0'/0/i, with their checksums (EIP-55). */
export const FUNDED_ADDRESSES: readonly string[] = [
  "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
  "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
  "0x90F79bf6EB2c4f870365E785982E1f101E93b906",
  "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65",
  "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
  "0x976EA74026E726554dB657fA54763abd0C3a0aa9",
  "0x14dC79964da2C08b23698B3D3cc7Ca32193d9955",
  "0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f",
  "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720",
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

/** A funded account as hex strings. */
export interface FundedAccount {
  /** With its checksum (EIP-55). */
  readonly address: `0x${string}`;
  readonly privateKey: `0x${string}`;
}

let accounts: readonly DevAccount[] | undefined;

/** Returns the funded accounts of a dev chain as hex strings. */
export function fundedAccounts(): FundedAccount[] {
  return devAccountKeys().map(({ privateKey }, index) => ({
    address: FUNDED_ADDRESSES[index] as FundedAccount["address"],
    privateKey: `0x${Buffer.from(privateKey).toString("hex")}`,
  }));
}

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
