import { extendedBeaconEntries } from "./beacon-extended.ts";
import { chainEntries } from "./chain.ts";
import { configEntries } from "./config.ts";
import { debugEntries } from "./debug.ts";
import { discoverEntry } from "./discover.ts";
import type { Entry } from "./entry.ts";
import { eventEntries } from "./events.ts";
import { extensionEntries } from "./extensions.ts";
import { type Family, familiesOf } from "./family.ts";
import { lightClientEntries } from "./light-client.ts";
import { networkEntries } from "./network.ts";
import { nodeEntries } from "./node.ts";
import { poolEntries } from "./pools.ts";
import { extendedPoolEntries } from "./pools-extended.ts";
import { validatorEntries } from "./validator.ts";

/** Everything that can be asked, in the families of the interface document. */
export const families: readonly Family[] = familiesOf([
  { title: "Beacon chain", lastNumber: 14, entries: [...chainEntries, ...extendedBeaconEntries] },
  { title: "Pools", lastNumber: 21, entries: [...poolEntries, ...extendedPoolEntries] },
  { title: "Node", lastNumber: 28, entries: nodeEntries },
  { title: "Validator duties and production", lastNumber: 40, entries: validatorEntries },
  { title: "Config", lastNumber: 44, entries: configEntries },
  { title: "Debug", lastNumber: 46, entries: debugEntries },
  { title: "Extensions", lastNumber: 62, entries: [...extensionEntries, ...networkEntries] },
  { title: "Light clients", entries: lightClientEntries },
  { title: "Events", entries: eventEntries },
  { title: "Discovery", entries: [discoverEntry(() => families)] },
]);

/** Everything that can be asked. */
export const catalogue: readonly Entry[] = families.flatMap(({ entries }) => entries);
