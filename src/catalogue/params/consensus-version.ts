import { ForkName } from "@lodestar/params";
import { word } from "./word.ts";

/** The name of the fork that an object belongs to, which REST carries in a request header. */
export const consensusVersion = word(Object.values(ForkName));
