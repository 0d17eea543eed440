import type { ByteViews } from "@chainsafe/ssz";
import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import { ssz, type ValidatorIndex } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import { TimeSlice } from "../../../async/time-slice.ts";
import { BALANCE_BYTES, type Chunks, VALIDATORS_PER_CHUNK } from "../../../json/writers/registry-chunks.ts";
import { VALIDATOR_BYTES } from "../../../ssz/validator-layout.ts";

/** Number of ids between checks of the time slice. */
const IDS_PER_CHECK = 256;

/** Returns the index of a validator, given its index or public key, or undefined if it is not in the state. */
export function indexInRegistry(
  { validators, epochCtx }: CachedBeaconStateAllForks,
  id: string | number,
): ValidatorIndex | undefined {
  if (typeof id !== "string") return id < validators.length ? id : undefined;
  const pubkey = fromHex(id);
  // The key cache is shared by all states. A state that is older or on another branch may have different indices.
  const index = epochCtx.pubkeyCache.getIndex(pubkey);
  if (index === null || index >= validators.length) return undefined;
  return Buffer.compare(validators.getReadonly(index).pubkey, pubkey) === 0 ? index : undefined;
}

/** Returns the indices for all known ids, in ascending order and without duplicates. */
export async function indicesInRegistry(
  state: CachedBeaconStateAllForks,
  ids: readonly (string | number)[],
): Promise<Uint32Array> {
  const indices = new Set<ValidatorIndex>();
  const slice = new TimeSlice();
  for (const [position, id] of ids.entries()) {
    const index = indexInRegistry(state, id);
    if (index !== undefined) indices.add(index);
    if (position % IDS_PER_CHECK === 0) await slice.yieldIfDue();
  }
  return Uint32Array.from(indices).sort();
}

/** Serializes the validators with the given indices, in the format of a registry snapshot. */
export function validatorsAt({ validators }: CachedBeaconStateAllForks, indices: Uint32Array): Promise<Chunks> {
  return gather(indices, VALIDATOR_BYTES, (index, into, at) => {
    ssz.phase0.Validator.value_serializeToBytes(into, at, validators.getReadonly(index).toValue());
  });
}

/** Serializes the balances with the given indices, in the format of a registry snapshot. */
export function balancesAt({ balances }: CachedBeaconStateAllForks, indices: Uint32Array): Promise<Chunks> {
  return gather(indices, BALANCE_BYTES, (index, into, at) => {
    ssz.UintNum64.value_serializeToBytes(into, at, balances.get(index));
  });
}

async function gather(
  indices: Uint32Array,
  recordBytes: number,
  read: (index: ValidatorIndex, into: ByteViews, at: number) => void,
): Promise<Chunks> {
  const chunks: SharedArrayBuffer[] = [];
  const slice = new TimeSlice();
  for (let start = 0; start < indices.length; start += VALIDATORS_PER_CHUNK) {
    const ofChunk = indices.subarray(start, start + VALIDATORS_PER_CHUNK);
    const chunk = new SharedArrayBuffer(ofChunk.length * recordBytes);
    const into = { uint8Array: new Uint8Array(chunk), dataView: new DataView(chunk) };
    for (const [position, index] of ofChunk.entries()) read(index, into, position * recordBytes);
    chunks.push(chunk);
    await slice.yieldIfDue();
  }
  return chunks;
}
