import { diffJson, pickSharedMembers } from "../../json/diff.ts";
import type { Difference } from "./report.ts";

/** The answer of one upstream. */
export interface UpstreamAnswer {
  readonly upstream: string;
  readonly value: unknown;
}

interface AnswerGroup {
  readonly upstreams: string[];
  readonly value: unknown;
}

/** Differences reported per answer. */
const MAX_DIFFERENCES = 3;
const MAX_VALUE_LENGTH = 70;
const TAIL_LENGTH = 10;

/** Compares the answers to one request. Reports where they differ from the most common one. */
export function compare(
  request: string,
  answers: readonly UpstreamAnswer[],
  { path = "data", onlyShared = false } = {},
): Difference[] {
  const diffs = (first: unknown, second: unknown) =>
    onlyShared ? diffJson(...pickSharedMembers(first, second), path) : diffJson(first, second, path);
  const groups: AnswerGroup[] = [];
  for (const { upstream, value } of answers) {
    const own = groups.find((group) => diffs(group.value, value).next().done);
    if (own === undefined) groups.push({ upstreams: [upstream], value });
    else own.upstreams.push(upstream);
  }
  const [majority, ...others] = groups.toSorted((a, b) => b.upstreams.length - a.upstreams.length);
  return others.flatMap((group) =>
    firstOf(diffs(majority!.value, group.value), MAX_DIFFERENCES).map((difference) => ({
      request,
      path: difference.path,
      said: [
        { upstreams: majority!.upstreams, value: shortJson(difference.first) },
        { upstreams: group.upstreams, value: shortJson(difference.second) },
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

/** Keeps both ends of a long value. */
function shortJson(value: unknown): string {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value);
  if (text.length <= MAX_VALUE_LENGTH) return text;
  return `${text.slice(0, MAX_VALUE_LENGTH - TAIL_LENGTH - 1)}…${text.slice(-TAIL_LENGTH)}`;
}
