import { setHasher } from "@chainsafe/persistent-merkle-tree";
import { missingNativeModule } from "./native-modules.ts";

const { hasher, missing } = await loadHasher();

interface Logger {
  notice(message: string, fields: Record<string, unknown>): void;
}

/**
 * Installs the native SHA-256 hasher, about eight times faster than the default. Falls back to WebAssembly on platforms
 * without a native binary, such as Intel Macs. Call it once per thread.
 */
export function useNativeHasher(logger?: Logger): void {
  setHasher(hasher);
  if (missing) logger?.notice("No native hasher for this platform, hashing states at half the speed", { ...missing });
}

async function loadHasher() {
  try {
    const { hasher } = await import("@chainsafe/persistent-merkle-tree/hasher/hashtree");
    return { hasher, missing: undefined };
  } catch (error) {
    const missing = missingNativeModule(error);
    if (!missing) throw error;
    const { hasher } = await import("@chainsafe/persistent-merkle-tree/hasher/as-sha256");
    return { hasher, missing };
  }
}
