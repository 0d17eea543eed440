import type { RestPath } from "../../api/definition.ts";
import { isJsonObject } from "../../json/json-object.ts";
import type { Operation } from "./operations.ts";

export const SPEC_PATH = "/eth/v1/config/spec";
const FORK_SCHEDULE_PATH = "/eth/v1/config/fork_schedule";
const GENESIS_PATH = "/eth/v1/beacon/genesis";
const FAR_FUTURE_EPOCH = "18446744073709551615";
const FORK_EPOCH = /^(\w+)_FORK_EPOCH$/;

/** Words in the names of a fork's constants, other than the name of the fork. */
const FORK_NAME_WORDS: Readonly<Record<string, readonly string[]>> = {
  DENEB: ["BLOB", "BLOBS"],
  GLOAS: ["BUILDER", "BUILDERS", "PAYLOAD", "PTC"],
  HEZE: ["INCLUSION"],
};

/** True for an empty list of a block's data: some clients return it when they do not hold the data. */
export function isMissingBlockData({ isBlockData }: Pick<Operation, "isBlockData">, data: unknown): boolean {
  return isBlockData && Array.isArray(data) && data.length === 0;
}

/**
 * Returns the part of an answer that is equal for all conforming nodes of a chain. Unscheduled forks are left out,
 * because clients add them at different times.
 */
export function comparableData({ path }: Pick<RestPath, "path">, data: unknown): unknown {
  switch (path) {
    case SPEC_PATH:
      return isJsonObject(data) ? withoutUnscheduledForks(data) : data;
    case FORK_SCHEDULE_PATH:
      return Array.isArray(data) ? data.filter((fork) => fork?.epoch !== FAR_FUTURE_EPOCH) : data;
    case GENESIS_PATH: {
      // If several forks start at genesis, Lodestar returns the version of the last fork here, and that of the first
      // fork in its constants.
      const { genesis_fork_version: _, ...rest } = isJsonObject(data) ? data : {};
      return rest;
    }
    default:
      return data;
  }
}

/** Drops all constants of unscheduled forks, such as `GLOAS_FORK_VERSION`. */
function withoutUnscheduledForks(spec: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(spec);
  const unscheduled = entries.flatMap(([name, value]) =>
    value === FAR_FUTURE_EPOCH ? (FORK_EPOCH.exec(name)?.[1] ?? []) : [],
  );
  const words = new Set(unscheduled.flatMap((fork) => [fork, ...(FORK_NAME_WORDS[fork] ?? [])]));
  return Object.fromEntries(entries.filter(([name]) => !name.split("_").some((word) => words.has(word))));
}
