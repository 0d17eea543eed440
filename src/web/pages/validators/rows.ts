import { useEffect, useRef, useState } from "preact/hooks";
import { messageOf } from "../../format.ts";
import { node } from "../../node.ts";

type ValidatorPage = Awaited<ReturnType<typeof node.getValidatorPage>>;
export type ValidatorRow = ValidatorPage["validators"][number];
type Query = NonNullable<Parameters<typeof node.getValidatorPage>[0]>;
export type ValidatorSortKey = NonNullable<Query["sort"]>;
export type ValidatorStatus = NonNullable<Query["status"]>[number];

export interface ValidatorQuery {
  sort: ValidatorSortKey;
  descending: boolean;
  status: readonly ValidatorStatus[];
  /** Prefix of the public keys. */
  pubkey: `0x${string}`;
}

const ROWS_PER_PAGE = 100;
/** Maximum number of pages kept in memory. */
const MAX_PAGES = 40;
/** Pages are requested after this delay, so pages that are merely scrolled past are not. */
const SCROLL_MILLIS = 40;

interface Loaded {
  query: string;
  /** Undefined until the first page is loaded. */
  total: number | undefined;
  /** Number of table rows: the total, or the previous query's total until this one is known. */
  rowCount: number | undefined;
  /** Pages, each with the version it was loaded for. */
  pages: Map<number, { version: string; rows: ValidatorRow[] }>;
}

const emptyFor = (query: string, rowCount?: number): Loaded => ({
  query,
  total: undefined,
  rowCount,
  pages: new Map(),
});

/**
 * Loads the visible rows of a query. Keeps showing the old version's rows while reloading, but never those of a
 * different query.
 */
export function useValidatorRows(query: ValidatorQuery, version: string) {
  const name = JSON.stringify(query);
  const loaded = useRef(emptyFor(name));
  if (loaded.current.query !== name) loaded.current = emptyFor(name, loaded.current.rowCount);
  const [shown, setShown] = useState({ first: 0, last: 0 });
  const [error, setError] = useState("");
  const [, countLoads] = useState(0);
  const firstPage = Math.floor(shown.first / ROWS_PER_PAGE);
  const lastPage = Math.floor(shown.last / ROWS_PER_PAGE);
  useEffect(() => {
    const { pages, total } = loaded.current;
    const outdatedPages = [firstPage, lastPage].filter((page) => pages.get(page)?.version !== version);
    if (outdatedPages.length === 0) return;
    const controller = new AbortController();
    const load = async (page: number) => {
      const range = { offset: page * ROWS_PER_PAGE, limit: ROWS_PER_PAGE };
      const { signal } = controller;
      const answer = await node.getValidatorPage({ state_id: "head", ...range, ...query }, { signal });
      if (signal.aborted) return;
      pages.delete(page);
      pages.set(page, { version, rows: answer.validators });
      for (const oldest of [...pages.keys()].slice(0, -MAX_PAGES)) pages.delete(oldest);
      loaded.current.total = Number(answer.total);
      loaded.current.rowCount = loaded.current.total;
      setError("");
      countLoads((count) => count + 1);
    };
    const start = () =>
      Promise.all([...new Set(outdatedPages)].map(load)).catch(
        (reason: unknown) => controller.signal.aborted || setError(messageOf(reason)),
      );
    const timer = setTimeout(() => void start(), total === undefined ? 0 : SCROLL_MILLIS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [name, version, firstPage, lastPage]);
  return {
    total: loaded.current.total,
    rowCount: loaded.current.rowCount,
    error,
    rowAt: (row: number): ValidatorRow | undefined =>
      loaded.current.pages.get(Math.floor(row / ROWS_PER_PAGE))?.rows[row % ROWS_PER_PAGE],
    show: (first: number, last: number) => setShown({ first, last: Math.max(first, last) }),
  };
}
