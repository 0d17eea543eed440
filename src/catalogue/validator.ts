import type { Entry } from "./entry.ts";

export const validatorEntries: Entry[] = [];
