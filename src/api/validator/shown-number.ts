/** A slot, epoch or index in a message. Legal ones beyond what a number holds exactly have become infinite. */
export function shown(number: number): string {
  return Number.isFinite(number) ? String(number) : `${Number.MAX_SAFE_INTEGER + 1} or higher`;
}
