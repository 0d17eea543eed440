import { html } from "htm/preact";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type ScrollState, scrolledTo, scrollHeight } from "../virtual-rows.ts";
import { type Column, cellClass } from "./column.ts";

/** Heights defined in the style sheet. */
const ROW_HEIGHT = 32;
const HEAD_HEIGHT = 34;

export interface SortableColumn<Key extends string = string> extends Column {
  /** Sorts by the column. */
  sortKey?: Key;
}

export interface Sorting<Key extends string = string> {
  key: Key;
  isDescending: boolean;
}

interface VirtualTableProps {
  caption: string;
  columns: readonly SortableColumn[];
  total: number;
  /** The table scrolls to the top when this value changes. */
  resetKey: string;
  sorting: Sorting;
  onSort(sorting: Sorting): void;
  /** Returns the cells of a row, or undefined until they are loaded. */
  cellsAt(row: number): readonly ComponentChildren[] | undefined;
  /** Called when the set of visible rows changes. */
  onShow(first: number, last: number): void;
}

/** Table with any number of rows that renders only those that are visible. */
export function VirtualTable({
  caption,
  columns,
  total,
  resetKey,
  sorting,
  onSort,
  cellsAt,
  onShow,
}: VirtualTableProps) {
  const box = useRef<HTMLDivElement>(null);
  const [viewHeight, setViewHeight] = useState(0);
  const [scroll, setScroll] = useState<ScrollState>({ first: 0, scrollTop: 0 });
  useEffect(() => {
    const observer = new ResizeObserver(() => setViewHeight(box.current?.clientHeight ?? 0));
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (box.current) box.current.scrollTop = 0;
    setScroll({ first: 0, scrollTop: 0 });
  }, [resetKey]);
  const visibleRows = Math.max(1, Math.floor((viewHeight - HEAD_HEIGHT) / ROW_HEIGHT));
  const first = Math.min(Math.round(scroll.first), Math.max(0, total - visibleRows));
  const last = Math.min(total, first + visibleRows) - 1;
  useEffect(() => onShow(first, last), [first, last]);
  const onScroll = () => {
    const { scrollTop } = box.current!;
    const view = { scrollTop, viewHeight: viewHeight - HEAD_HEIGHT, rows: total, visibleRows, rowHeight: ROW_HEIGHT };
    setScroll((before) => scrolledTo(before, view));
  };
  const rows = Array.from({ length: Math.max(0, last - first + 1) }, (_, position) => first + position);
  return html`<div class="virtual" ref=${box} tabindex="0" role="region" aria-label=${caption} onScroll=${onScroll}>
    <div style=${{ height: `${HEAD_HEIGHT + scrollHeight(total, ROW_HEIGHT)}px` }}>
      <table aria-rowcount=${total + 1}>
        <thead><tr aria-rowindex="1">
          ${columns.map((column) => html`<${Heading} of=${column} sorting=${sorting} onSort=${onSort} />`)}
        </tr></thead>
        <tbody>
          ${rows.map((row) => {
            const cells = cellsAt(row);
            return html`<tr key=${row} aria-rowindex=${row + 2} aria-busy=${cells === undefined}>
              ${columns.map((column, index) => html`<td class=${cellClass(column)}>${cells ? cells[index] : html`<span class="placeholder"></span>`}</td>`)}
            </tr>`;
          })}
        </tbody>
      </table>
    </div>
  </div>`;
}

interface HeadingProps {
  of: SortableColumn;
  sorting: Sorting;
  onSort(sorting: Sorting): void;
}

function Heading({ of: column, sorting, onSort }: HeadingProps) {
  const { label, sortKey } = column;
  const style = cellClass(column);
  if (sortKey === undefined) return html`<th scope="col" class=${style}>${label}</th>`;
  const isSorted = sorting.key === sortKey;
  const order = sorting.isDescending ? "descending" : "ascending";
  const sort = () => onSort({ key: sortKey, isDescending: isSorted && !sorting.isDescending });
  return html`<th scope="col" class=${style} aria-sort=${isSorted ? order : "none"}>
    <button type="button" onClick=${sort}>${label} <span aria-hidden="true">${isSorted ? (sorting.isDescending ? "▼" : "▲") : "↕"}</span></button>
  </th>`;
}
