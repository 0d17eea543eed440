import { expect, it } from "vitest";
import { AmbiguousNetworkError } from "../../gateway/network/network-pin.ts";
import { EXIT_CODES } from "../exit.ts";
import { asStartupError } from "./start-errors.ts";

it("reports upstreams on different networks as a usage error", () => {
  const error = new AmbiguousNetworkError("The upstreams are on different networks.");
  expect(asStartupError(error)).toMatchObject({ exitCode: EXIT_CODES.usage, message: error.message });
});
