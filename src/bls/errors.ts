import { ErrorRegistry } from "../threads/error-registry.ts";
import { BadPubkeyError } from "./read-key.ts";

/** Errors that keep their class when a signature thread reports them to the node. */
export const BLS_ERRORS = new ErrorRegistry([BadPubkeyError]);
