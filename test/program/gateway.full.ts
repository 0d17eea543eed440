import { it } from "vitest";
import { followsBack } from "../support/gateway-following.ts";
import { Program } from "../support/program.ts";

it("workers of a gateway follow a dev chain that goes back behind what was final", () => followsBack(Program, "2"));
