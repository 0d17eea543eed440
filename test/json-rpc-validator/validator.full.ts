import { test } from "vitest";
import { finalizeByJsonRpc } from "./finalizing.ts";

test.each(["phase0", "altair", "capella", "electra"])(
  "a validator that knows only JSON-RPC finalizes a chain of %s",
  finalizeByJsonRpc,
);
