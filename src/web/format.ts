/** Shortens a root or key to its first and last digits. */
export function short(hex: string): string {
  return hex.length <= 14 ? hex : `${hex.slice(0, 8)}…${hex.slice(-4)}`;
}

/** Formats Gwei as ETH with all significant decimals. */
export function eth(amount: string | bigint): string {
  return `${decimal(BigInt(amount), 9)} ETH`;
}

/** Formats an integer in the smallest unit with all significant decimals, but at least `minDecimals`. */
function decimal(amount: bigint, digits: number, minDecimals = 0): string {
  const sign = amount < 0n ? "-" : "";
  const absolute = amount < 0n ? -amount : amount;
  const scale = 10n ** BigInt(digits);
  const fraction = String(absolute % scale)
    .padStart(digits, "0")
    .replace(/0+$/, "")
    .padEnd(minDecimals, "0");
  return `${sign}${grouped(absolute / scale)}${fraction === "" ? "" : `.${fraction}`}`;
}

/** Formats the amounts in a table column with the same number of decimals and no unit. */
export function aligned(amounts: readonly (string | bigint)[], digits: number, minDecimals = 0): string[] {
  const decimals = amounts.map((amount) => decimal(BigInt(amount), digits).split(".")[1]?.length ?? 0);
  const maxDecimals = Math.max(minDecimals, ...decimals);
  return amounts.map((amount) => decimal(BigInt(amount), digits, maxDecimals));
}

/** Formats Wei as ETH with all significant decimals. */
export function ether(wei: string | bigint): string {
  return `${decimal(BigInt(wei), 18)} ETH`;
}

/** Formats Wei as Gwei with all significant decimals. */
export function gwei(wei: string | bigint): string {
  return `${decimal(BigInt(wei), 9)} Gwei`;
}

/** Formats an integer with thousands separators that do not allow line breaks. */
export function grouped(value: string | number | bigint): string {
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
}

/** Formats a count with its noun: "1 block", "2 blocks". */
export function counted(count: string | number | bigint, noun: string, plural = `${noun}s`): string {
  return `${grouped(count)} ${String(count) === "1" ? noun : plural}`;
}

export function percent(fraction: number): string {
  return `${(fraction * 100).toFixed(1)} %`;
}

/** Formats a Unix time as a UTC date and time. */
export function timeText(seconds: number): string {
  return new Date(seconds * 1000)
    .toISOString()
    .replace("T", " ")
    .replace(/\.\d+Z$/, "");
}

const FAR_FUTURE = "18446744073709551615";

export function epochText(epoch: string): string {
  return epoch === FAR_FUTURE ? "never" : grouped(epoch);
}

/** Decodes graffiti as UTF-8 without trailing zeros. Returns the hex string if the graffiti is not text. */
export function graffitiText(hex: string): string {
  const bytes = Uint8Array.from(hex.slice(2).match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
  const length = bytes.findLastIndex((byte) => byte !== 0) + 1;
  if (length === 0) return "";
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, length));
  } catch {
    return hex;
  }
}

/** Counts the set bits in an SSZ bitlist or bitvector, excluding the length bit of a bitlist. */
export function countBits(hex: string, kind: "list" | "vector"): number {
  const bits = [...hex.slice(2)].reduce((count, digit) => count + (ONES[Number.parseInt(digit, 16)] ?? 0), 0);
  return kind === "list" ? bits - 1 : bits;
}

const ONES = Array.from({ length: 16 }, (_, value) => value.toString(2).replaceAll("0", "").length);

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Formats a number of bytes with its unit. */
export function byteSize(bytes: number): string {
  if (bytes < 1000) return counted(bytes, "byte");
  const [divisor, unit] = bytes < 1e6 ? [1e3, "kB"] : [1e6, "MB"];
  return `${(bytes / divisor).toFixed(bytes / divisor < 10 ? 1 : 0)} ${unit}`;
}
