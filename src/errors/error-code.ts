/** Returns the code of a system or library error, such as "ENOENT". */
export function errorCode(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
