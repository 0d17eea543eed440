import type { Entry } from "./entry.ts";

export const poolEntries: Entry[] = [];
