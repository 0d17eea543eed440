import type { Entry } from "./entry.ts";

export const networkEntries: Entry[] = [];
