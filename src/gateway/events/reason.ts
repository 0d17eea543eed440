/** What the log says of an error. An address that stands for several has an error for each of them, and no message of its own. */
export function reasonOf(error: unknown): string {
  const { message, code } = error as { message?: string; code?: string };
  return message || code || String(error);
}
