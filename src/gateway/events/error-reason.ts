/**
 * Returns the message or code of an error for a log field. An error of a host with several addresses has no message.
 */
export function errorReason(error: unknown): string {
  const { message, code } = error as { message?: string; code?: string };
  return message || code || String(error);
}
