import { test } from "vitest";
import { finalizeByJsonRpc } from "./finalizing.ts";

test("a validator that knows only JSON-RPC finalizes a chain of fulu", () => finalizeByJsonRpc("fulu"));
