import { differences, sharedMembers } from "./differences.ts";
import type { Difference } from "./report.ts";

/** What an upstream answered. */
export interface Said {
  readonly upstream: string;
  readonly value: unknown;
}

interface Camp {
  readonly upstreams: string[];
  readonly value: unknown;
}

/** Of each answer that differs, so many places are told. */
const MOST_PLACES = 3;
const LONGEST_VALUE = 70;
const SHOWN_END = 10;

/** Where the answers to one request differ: what most have said is held against what the others have. */
export function compare(
  request: string,
  answers: readonly Said[],
  { path = "data", onlyShared = false } = {},
): Difference[] {
  const places = (first: unknown, second: unknown) =>
    onlyShared ? differences(...sharedMembers(first, second), path) : differences(first, second, path);
  const camps: Camp[] = [];
  for (const { upstream, value } of answers) {
    const own = camps.find((camp) => places(camp.value, value).next().done);
    if (own === undefined) camps.push({ upstreams: [upstream], value });
    else own.upstreams.push(upstream);
  }
  const [most, ...others] = camps.toSorted((a, b) => b.upstreams.length - a.upstreams.length);
  return others.flatMap((camp) =>
    firstOf(places(most!.value, camp.value), MOST_PLACES).map((place) => ({
      request,
      path: place.path,
      said: [
        { upstreams: most!.upstreams, value: shortened(place.first) },
        { upstreams: camp.upstreams, value: shortened(place.second) },
      ],
    })),
  );
}

function firstOf<T>(all: Iterable<T>, count: number): T[] {
  const first: T[] = [];
  for (const each of all) {
    first.push(each);
    if (first.length === count) break;
  }
  return first;
}

function shortened(value: unknown): string {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value);
  if (text.length <= LONGEST_VALUE) return text;
  return `${text.slice(0, LONGEST_VALUE - SHOWN_END - 1)}…${text.slice(-SHOWN_END)}`;
}
