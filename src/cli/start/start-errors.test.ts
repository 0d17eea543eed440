import { expect, it } from "vitest";
import { AmbiguousNetworkError, KNOWN_NETWORKS } from "../../gateway/network/network-pin.ts";
import { EXIT_CODES } from "../exit.ts";
import { asStartupError } from "./start-errors.ts";

it("reports upstreams on different networks as a usage error", () => {
  const { mainnet, hoodi } = KNOWN_NETWORKS;
  const error = new AmbiguousNetworkError([
    { upstream: "first", genesis: mainnet! },
    { upstream: "second", genesis: hoodi! },
  ]);
  expect(asStartupError(error)).toMatchObject({ exitCode: EXIT_CODES.usage, message: error.message });
});
