import type { Operation } from "./operations.ts";

export const SPEC_PATH = "/eth/v1/config/spec";
const FORK_SCHEDULE_PATH = "/eth/v1/config/fork_schedule";
const GENESIS_PATH = "/eth/v1/beacon/genesis";
const FAR_FUTURE_EPOCH = "18446744073709551615";
const FORK_EPOCH = /^(\w+)_FORK_EPOCH$/;

/** Words in the names of a fork's constants, beside its own name. */
const WORDS_OF_FORKS: Readonly<Record<string, readonly string[]>> = {
  DENEB: ["BLOB", "BLOBS"],
  GLOAS: ["BUILDER", "BUILDERS", "PAYLOAD", "PTC"],
  HEZE: ["INCLUSION"],
};

/**
 * Returns the part of an answer that all conforming nodes of a chain agree on; undefined when there is none. Left out are forks
 * without a date, which clients learn of at different times, and an empty list of a block's data, which a node need not hold.
 */
export function comparableData({ path, isBlockData }: Pick<Operation, "path" | "isBlockData">, data: unknown): unknown {
  switch (path.path) {
    case SPEC_PATH:
      return isObject(data) ? withoutUnscheduledForks(data) : data;
    case FORK_SCHEDULE_PATH:
      return Array.isArray(data) ? data.filter((fork) => fork?.epoch !== FAR_FUTURE_EPOCH) : data;
    case GENESIS_PATH: {
      // Where later forks start at genesis, Lodestar returns the version of the last of them. The constants have the first.
      const { genesis_fork_version: _, ...rest } = isObject(data) ? data : {};
      return rest;
    }
    default:
      return isBlockData && Array.isArray(data) && data.length === 0 ? undefined : data;
  }
}

/** Drops every constant of a fork of the far future, such as `GLOAS_FORK_VERSION`. */
function withoutUnscheduledForks(spec: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(spec);
  const unscheduled = entries.flatMap(([name, value]) =>
    value === FAR_FUTURE_EPOCH ? (FORK_EPOCH.exec(name)?.[1] ?? []) : [],
  );
  const words = new Set(unscheduled.flatMap((fork) => [fork, ...(WORDS_OF_FORKS[fork] ?? [])]));
  return Object.fromEntries(entries.filter(([name]) => !name.split("_").some((word) => words.has(word))));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
