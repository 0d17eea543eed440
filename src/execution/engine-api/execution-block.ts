import type { RootHex } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { JsonValue } from "../json-value.ts";

/** What of a block decides whether proof of work ended with it. */
export interface ExecutionBlock {
  hash: RootHex;
  parentHash: RootHex;
  number: number;
  difficulty: bigint;
  /** Null where the client does not tell it: most have ceased to. */
  totalDifficulty: bigint | null;
}

/** Null for a block that the client does not have. */
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
