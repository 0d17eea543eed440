import { chainEntries } from "./chain.ts";
import { configEntries } from "./config.ts";
import { debugEntries } from "./debug.ts";
import type { Entry } from "./entry.ts";
import { extensionEntries } from "./extensions.ts";
import { nodeEntries } from "./node.ts";

/** Everything that can be asked. */
export const catalogue: readonly Entry[] = [
  ...chainEntries,
  ...nodeEntries,
  ...configEntries,
  ...debugEntries,
  ...extensionEntries,
];
