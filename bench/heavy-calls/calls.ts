/** A call and the parameters of its request. */
export interface HeavyCall {
  method: string;
  params: readonly unknown[];
}

const CONTRACT = "0x00000000000000000000000000000000000000c0";
const GAS = "0x2faf080";
/** Number of logs that a search finds. */
export const LOGS = 12_000;

/** Calls a precompile with the default gas cap of calls, 50 million. */
const precompile = (address: number, input: string): HeavyCall => ({
  method: "eth_call",
  params: [{ to: `0x${address.toString(16).padStart(40, "0")}`, data: `0x${input}`, gas: GAS }, "latest"],
});

/** Executes code without jumps. */
const code = (bytes: string): HeavyCall => ({
  method: "eth_call",
  params: [{ to: CONTRACT, gas: GAS }, "latest", { [CONTRACT]: { code: `0x${bytes}` } }],
});

const word = (value: number | bigint) => value.toString(16).padStart(64, "0");
/** Generator of G1 in the encoding of EIP-2537. */
const BLS_G1 =
  "0000000000000000000000000000000017f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb" +
  "0000000000000000000000000000000008b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af600db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1";
/** Generators of both groups of bn254. */
const BN_G1 = word(1) + word(2);
const BN_G2 =
  "198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2" +
  "1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed" +
  "090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b" +
  "12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa";
const LARGEST = "f".repeat(64);
/** Lengths in bytes. */
const MODEXP = { base: 1024, exponent: 110, modulus: 1024 };

export const HEAVY_CALLS: Readonly<Record<string, HeavyCall>> = {
  "BLAKE2, 48 million rounds": precompile(9, `02dc6c00${"00".repeat(208)}01`),
  "modexp of 1,024 bytes": precompile(
    5,
    Object.values(MODEXP).map(word).join("") +
      "e".repeat(2 * MODEXP.base) +
      "f".repeat(2 * (MODEXP.exponent + MODEXP.modulus)),
  ),
  "bn254, 1,250 pairings": precompile(8, (BN_G1 + BN_G2).repeat(1250)),
  "BLS12-381, sum of 3,200 products": precompile(12, (BLS_G1 + LARGEST).repeat(3200)),
  // Memory of a MiB, hashed 220 times.
  "KECCAK-256 of 220 MiB": code("621000005f2050".repeat(220)),
  "EXP, 29,000 times": code("5f195f190a50".repeat(29_000)),
  [`eth_getLogs with ${LOGS.toLocaleString("en")} results`]: {
    method: "eth_getLogs",
    params: [{ fromBlock: "0x0", toBlock: "latest", address: CONTRACT }],
  },
};

/** Emits 250 empty logs. */
export const LOGGING = { address: CONTRACT, code: `0x${"5f5fa0".repeat(250)}00`, logs: 250 };
