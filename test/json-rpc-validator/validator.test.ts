import { it } from "vitest";
import { finalizeByJsonRpc } from "./finalizing.ts";

it("a validator that knows only JSON-RPC finalizes a chain of fulu", () => finalizeByJsonRpc("fulu"));
