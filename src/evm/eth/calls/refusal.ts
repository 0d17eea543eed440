import { reasonOf } from "../../execution/payload.ts";

/** Reason why a transaction could not be executed. */
export interface Refusal {
  readonly kind: "intrinsicGas" | "insufficientFunds" | "feeTooLow" | "other";
  readonly message: string;
}

type Entry = readonly [pattern: RegExp, kind: Refusal["kind"], message: (...groups: string[]) => string];

/** geth's messages, which client libraries parse, keyed by the EVM library's messages. */
const REFUSALS: readonly Entry[] = [
  [
    /tx gas limit (\d+) is lower than the minimum gas limit of (\d+)/,
    "intrinsicGas",
    (have, want) => `intrinsic gas too low: have ${have}, want ${want}`,
  ],
  [
    /initcode size .* is (\d+) while the max is (\d+)/,
    "other",
    (size, limit) => `max initcode size exceeded: code size ${size} limit ${limit}`,
  ],
  [
    /(?:upfront|max) cost is: (\d+) and the sender's account \((\w+)\) only has: (\d+)/,
    "insufficientFunds",
    (want, sender, have) => `insufficient funds for gas * price + value: address ${sender} have ${have} want ${want}`,
  ],
  [
    /maxFeePerBlobGas (\d+)\) is less than block blobGasPrice \((\d+)\)/,
    "feeTooLow",
    (fee, price) =>
      `max fee per blob gas less than block blob gas fee: maxFeePerBlobGas: ${fee}, blobBaseFee: ${price}`,
  ],
  [/at least one blob/, "other", () => "blob transaction missing blob hashes"],
  [
    /(\d+) blobs exceeds max (\d+) blobs per tx/,
    "other",
    (have, max) => `too many blobs in transaction: have ${have}, permitted ${max}`,
  ],
  [
    /total blob gas of (\d+) to exceed maximum blob gas per block of (\d+)/,
    "other",
    (have, max) => `too many blobs in transaction: blob gas ${have}, permitted ${max}`,
  ],
  [
    /versioned hash does not start/,
    "other",
    () => "blob hash has an invalid version: versioned hashes start with 0x01",
  ],
  [/should have a "to" field/, "other", () => 'transaction of this type cannot create a contract: "to" is missing'],
  [/authorization list is empty/, "other", () => "EIP-7702 transaction with empty auth list"],
  [/nonce cannot equal or exceed/, "other", () => "nonce has max value"],
  [/gas ?limit \* (\w+) cannot exceed/i, "other", (price) => `${price} too high: gas * ${price} exceeds 2^256 - 1`],
  [
    /(EIP-\d+) not enabled/,
    "other",
    (eip) => `transaction type not supported: ${eip} is not active in the block of the call`,
  ],
];

/** Converts an error from the EVM library about an invalid or unexecutable transaction. */
export function refusalOf(error: unknown): Refusal {
  const reason = reasonOf(error);
  for (const [pattern, kind, message] of REFUSALS) {
    const found = pattern.exec(reason);
    if (found) return { kind, message: message(...found.slice(1)) };
  }
  return { kind: "other", message: reason };
}
