/** Browsers limit the height of elements, Firefox to about 17 million pixels. */
const MAX_HEIGHT = 12_000_000;

/** Returns the height of the scrollable area for a number of rows. */
export function scrollHeight(rows: number, rowHeight: number): number {
  return Math.min(rows * rowHeight, MAX_HEIGHT);
}

export interface ScrollState {
  /** The first visible row. */
  first: number;
  scrollTop: number;
}

interface Scrolled {
  scrollTop: number;
  /** Height of the visible part. */
  viewHeight: number;
  rows: number;
  visibleRows: number;
  rowHeight: number;
}

/**
 * Returns the first visible row after scrolling. In a list taller than the maximum height, small movements scroll by
 * rows, and larger movements by share of the list.
 */
export function scrolledTo(before: ScrollState, scrolled: Scrolled): ScrollState {
  const { scrollTop, viewHeight, rows, visibleRows, rowHeight } = scrolled;
  const maxFirst = Math.max(0, rows - visibleRows);
  const height = scrollHeight(rows, rowHeight);
  const range = Math.max(1, height - viewHeight);
  const moved = scrollTop - before.scrollTop;
  const isCompressed = height < rows * rowHeight;
  const isAtEnd = scrollTop <= 0 || scrollTop >= range;
  const first =
    isCompressed && !isAtEnd && Math.abs(moved) < viewHeight
      ? before.first + moved / rowHeight
      : Math.min(1, scrollTop / range) * maxFirst;
  return { first: Math.max(0, Math.min(maxFirst, first)), scrollTop };
}
