import type { EncodedOverride } from "./override.ts";

/** Impersonation settings. */
export interface ImpersonationSettings {
  /** Addresses in hex. */
  readonly impersonated: readonly string[];
  readonly impersonatesAll: boolean;
}

/** Stored form of the pending overrides. */
export interface StoredPending extends ImpersonationSettings {
  nextId: number;
  overrides: readonly EncodedOverride[];
}

/** Stored form of the overrides applied by a block. */
export interface StoredRecord {
  blockNumber: number;
  overrides: readonly EncodedOverride[];
}

export function serialize(value: StoredPending | StoredRecord): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

export function parse<Stored extends StoredPending | StoredRecord>(bytes: Uint8Array): Stored {
  return JSON.parse(new TextDecoder().decode(bytes)) as Stored;
}

/** Returns true if stored pending overrides would make other nodes reject the next block. */
export function isPendingChange(bytes: Uint8Array): boolean {
  const { overrides, impersonated, impersonatesAll } = parse<StoredPending>(bytes);
  return overrides.length > 0 || impersonated.length > 0 || impersonatesAll;
}
