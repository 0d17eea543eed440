import { setHasher } from "@chainsafe/persistent-merkle-tree";
import { hasher } from "@chainsafe/persistent-merkle-tree/hasher/hashtree";

/** State roots are hashed natively, about eight times faster than by the library's default. Once for each thread. */
export function useNativeHasher(): void {
  setHasher(hasher);
}
