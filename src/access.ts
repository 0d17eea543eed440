/**
 * What a method does, which decides who may call it: `read` changes nothing; `submit` brings something to the chain or tells
 * of duties; `debug` shows the inside of the node, whole states among it, at some cost; `admin` changes how the node runs;
 * `dev` changes the chain of a developer.
 */
export const ACCESS_CLASSES = ["read", "submit", "debug", "admin", "dev"] as const;
export type Access = (typeof ACCESS_CLASSES)[number];

/** Whether calls of the class leave everything as it is. */
export function changesNothing(access: Access): boolean {
  return access === "read" || access === "debug";
}
