import { PublicKey } from "@chainsafe/blst";
import { COMPRESSED_LENGTH, isSameKey, KEY_LENGTH } from "./key-memory.ts";
import { type PackedSets, unpackSets } from "./packed-sets.ts";
import { verifyBatch, verifyEachInBatch } from "./verify-batch.ts";

/** Worker thread jobs by name, with their transferable inputs and results. */
export interface Jobs {
  /** "all" returns one verdict for the whole job, "each" one per set. */
  verify: { input: { question: "all" | "each"; packed: PackedSets }; answer: boolean[] };
  decompressKeys: { input: KeysToDecompress; answer: DecompressedKeys };
}

interface KeysToDecompress {
  compressed: Uint8Array;
  /** Shared output buffer. Contains correct keys, incorrect keys or zeros. */
  keys: Uint8Array;
}

interface DecompressedKeys {
  /** Number of decompressed keys. */
  decompressed: number;
  /** Number of incorrect keys that were replaced. */
  unfit: number;
  /** Position of an invalid key; later keys are not processed. */
  bad?: number;
}

const JOBS: { [Kind in keyof Jobs]: (input: Jobs[Kind]["input"]) => Jobs[Kind]["answer"] } = {
  verify({ question, packed }) {
    const sets = unpackSets(packed);
    return question === "all" ? [verifyBatch(sets)] : verifyEachInBatch(sets);
  },

  decompressKeys({ compressed, keys }) {
    let decompressed = 0;
    let unfit = 0;
    for (let i = 0; i * KEY_LENGTH < keys.length; i++) {
      const key = keys.subarray(i * KEY_LENGTH, (i + 1) * KEY_LENGTH);
      const compressedKey = compressed.subarray(i * COMPRESSED_LENGTH, (i + 1) * COMPRESSED_LENGTH);
      // Any valid point with this x and sign of y is the key, whatever its source.
      if (isSameKey(key, compressedKey) && readPoint(key)) continue;
      const point = readPoint(compressedKey);
      if (!point) return { decompressed, unfit, bad: i };
      if (key.some((byte) => byte !== 0)) unfit++;
      key.set(point.toBytes(false));
      decompressed++;
    }
    return { decompressed, unfit };
  },
};

export function doJob<Kind extends keyof Jobs>(kind: Kind, input: Jobs[Kind]["input"]): Jobs[Kind]["answer"] {
  return JOBS[kind](input);
}

/** Returns null for a point that is not on the curve. Subgroup membership was checked at registration. */
function readPoint(bytes: Uint8Array): PublicKey | null {
  try {
    return PublicKey.fromBytes(bytes);
  } catch {
    return null;
  }
}
