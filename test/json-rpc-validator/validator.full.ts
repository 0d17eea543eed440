import { it } from "vitest";
import { finalizeByJsonRpc } from "./finalizing.ts";

it.each(["phase0", "altair", "capella", "electra"])(
  "a validator that knows only JSON-RPC finalizes a chain of %s",
  finalizeByJsonRpc,
);
