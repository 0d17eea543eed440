import { ErrorRegistry } from "../threads/error-registry.ts";
import { BadPubkeyError } from "./read-key.ts";

/** Errors that keep their class between the threads for signatures and the node. */
export const BLS_ERRORS = new ErrorRegistry([BadPubkeyError]);
