/** A table column. */
export interface Column {
  label: string;
  /** Right-aligned. */
  isNumber?: true;
  /** Hidden on narrow screens. */
  isMinor?: true;
}

/** Returns the class names for a column's cells. */
export function cellClass({ isNumber, isMinor }: Column): string | undefined {
  return [isNumber && "number", isMinor && "minor"].filter(Boolean).join(" ") || undefined;
}

export const numeric = (label: string): Column => ({ label, isNumber: true });
export const minor = (label: string): Column => ({ label, isMinor: true });
export const minorNumeric = (label: string): Column => ({ label, isNumber: true, isMinor: true });
