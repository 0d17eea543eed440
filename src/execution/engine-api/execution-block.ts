import type { RootHex } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { JsonValue } from "../json-value.ts";

/** Block fields that determine the end of proof of work. */
export interface ExecutionBlock {
  hash: RootHex;
  parentHash: RootHex;
  number: number;
  difficulty: bigint;
  /** Null if the client does not report the total difficulty. Most clients no longer do. */
  totalDifficulty: bigint | null;
}

/** Returns null if the block is missing. */
export function blockFromJson(json: JsonValue): ExecutionBlock | null {
  if (json.isAbsent) return null;
  const totalDifficulty = json.member("totalDifficulty");
  return {
    hash: toRootHex(json.member("hash").bytes(32)),
    parentHash: toRootHex(json.member("parentHash").bytes(32)),
    number: json.member("number").number(),
    difficulty: json.member("difficulty").bigint(256),
    totalDifficulty: totalDifficulty.isAbsent ? null : totalDifficulty.bigint(256),
  };
}
