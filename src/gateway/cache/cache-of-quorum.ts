import type { CacheOptions } from "../options.ts";

/** The part of a cache that holds what so many upstreams have agreed on: what fewer have said is none of its answers. */
export function cacheOfQuorum(cache: CacheOptions, quorum: number): CacheOptions {
  return quorum > 1 ? { ...cache, prefix: `${cache.prefix}quorum-${quorum}:` } : cache;
}
