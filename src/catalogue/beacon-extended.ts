import { extendedBlockEntries } from "./blocks-extended.ts";
import { gloasEntries } from "./gloas.ts";
import { rewardEntries } from "./rewards.ts";
import { extendedStateEntries } from "./states-extended.ts";

/** What the standard asks of the beacon chain beside what the interface document numbers. */
export const extendedBeaconEntries = [
  ...extendedStateEntries,
  ...extendedBlockEntries,
  ...rewardEntries,
  ...gloasEntries,
];
