import { isNegative, type Word } from "./word.ts";

export function areEqual(a: Word, b: Word): boolean {
  return (
    a.l0 === b.l0 &&
    a.l1 === b.l1 &&
    a.l2 === b.l2 &&
    a.l3 === b.l3 &&
    a.l4 === b.l4 &&
    a.l5 === b.l5 &&
    a.l6 === b.l6 &&
    a.l7 === b.l7
  );
}

export function isLess(a: Word, b: Word): boolean {
  if (a.l7 !== b.l7) return a.l7 >>> 0 < b.l7 >>> 0;
  if (a.l6 !== b.l6) return a.l6 >>> 0 < b.l6 >>> 0;
  if (a.l5 !== b.l5) return a.l5 >>> 0 < b.l5 >>> 0;
  if (a.l4 !== b.l4) return a.l4 >>> 0 < b.l4 >>> 0;
  if (a.l3 !== b.l3) return a.l3 >>> 0 < b.l3 >>> 0;
  if (a.l2 !== b.l2) return a.l2 >>> 0 < b.l2 >>> 0;
  if (a.l1 !== b.l1) return a.l1 >>> 0 < b.l1 >>> 0;
  return a.l0 >>> 0 < b.l0 >>> 0;
}

/** Compares words as signed integers. */
export function isLessSigned(a: Word, b: Word): boolean {
  const isFirstNegative = isNegative(a);
  return isFirstNegative === isNegative(b) ? isLess(a, b) : isFirstNegative;
}
