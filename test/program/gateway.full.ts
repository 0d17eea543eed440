import "./gateway.test.ts";
import { it } from "vitest";
import { followsBack } from "../support/gateway/following.ts";
import { Program } from "../support/program/program.ts";

it("gateway workers follow a dev chain reverted behind finality", () => followsBack(Program, "2"));
