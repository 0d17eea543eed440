import { PublicKey } from "@chainsafe/blst";
import { COMPRESSED_LENGTH, isSameKey, KEY_LENGTH } from "./key-memory.ts";
import { type PackedSets, unpackSets } from "./packed-sets.ts";
import { verifyBatch, verifyEachInBatch } from "./verify-batch.ts";

/** What threads do, by name: what they are given and what they answer. All of it can be sent from one thread to another. */
export interface Jobs {
  /** "all" is answered with one verdict for the whole job, "each" with one for every set. */
  verify: { input: { question: "all" | "each"; packed: PackedSets }; answer: boolean[] };
  completeKeys: { input: KeysToComplete; answer: CompletedKeys };
}

interface KeysToComplete {
  compressed: Uint8Array;
  /** Where they belong, in memory that is shared. Right ones may be there already, wrong ones, or zeros. */
  keys: Uint8Array;
}

interface CompletedKeys {
  /** How many were not there. */
  made: number;
  /** In place of how many of these there was something else. */
  unfit: number;
  /** Which of them, counted from zero, is no key; the later ones are left as they were. */
  bad?: number;
}

const JOBS: { [Kind in keyof Jobs]: (input: Jobs[Kind]["input"]) => Jobs[Kind]["answer"] } = {
  verify({ question, packed }) {
    const sets = unpackSets(packed);
    return question === "all" ? [verifyBatch(sets)] : verifyEachInBatch(sets);
  },

  completeKeys({ compressed, keys }) {
    let made = 0;
    let unfit = 0;
    for (let i = 0; i * KEY_LENGTH < keys.length; i++) {
      const key = keys.subarray(i * KEY_LENGTH, (i + 1) * KEY_LENGTH);
      const wanted = compressed.subarray(i * COMPRESSED_LENGTH, (i + 1) * COMPRESSED_LENGTH);
      // A point with that x and that sign of y is the right one, whoever computed it.
      if (isSameKey(key, wanted) && readPoint(key)) continue;
      const point = readPoint(wanted);
      if (!point) return { made, unfit, bad: i };
      if (key.some((byte) => byte !== 0)) unfit++;
      key.set(point.toBytes(false));
      made++;
    }
    return { made, unfit };
  },
};

export function doJob<Kind extends keyof Jobs>(kind: Kind, input: Jobs[Kind]["input"]): Jobs[Kind]["answer"] {
  return JOBS[kind](input);
}

/** Null for what is no point of the curve. Whether it is one of the group was asked when it was registered. */
function readPoint(bytes: Uint8Array): PublicKey | null {
  try {
    return PublicKey.fromBytes(bytes);
  } catch {
    return null;
  }
}
