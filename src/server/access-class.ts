/**
 * Access classes of methods, which the access policy allows or denies:
 *
 * - `read`: reads public chain data.
 * - `submit`: submits objects to the chain or registers duties.
 * - `debug`: reads internals and entire states, which may be expensive.
 * - `admin`: changes how the node runs.
 * - `dev`: controls the dev chain.
 */
export const ACCESS_CLASSES = ["read", "submit", "debug", "admin", "dev"] as const;
export type AccessClass = (typeof ACCESS_CLASSES)[number];

/** Returns true if calls of methods in the class have no side effects. */
export function isReadOnly(access: AccessClass): boolean {
  return access === "read" || access === "debug";
}
