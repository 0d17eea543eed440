import { chainEntries } from "./chain.ts";
import { configEntries } from "./config.ts";
import { debugEntries } from "./debug.ts";
import type { Entry } from "./entry.ts";
import { extensionEntries } from "./extensions.ts";
import { networkEntries } from "./network.ts";
import { nodeEntries } from "./node.ts";
import { poolEntries } from "./pools.ts";
import { validatorEntries } from "./validator.ts";

/** Everything that can be asked. */
export const catalogue: readonly Entry[] = [
  ...chainEntries,
  ...poolEntries,
  ...nodeEntries,
  ...validatorEntries,
  ...configEntries,
  ...debugEntries,
  ...extensionEntries,
  ...networkEntries,
];
