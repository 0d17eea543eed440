import { expect, it } from "vitest";
import { methods } from "./method-groups.ts";

it("has no validator method in the heavy lane", () => {
  const ofValidators = methods.filter(({ rest }) =>
    rest.some(({ path }) => path.startsWith("/eth/v") && path.includes("/validator/")),
  );
  expect(ofValidators.length).toBeGreaterThan(20);
  expect(ofValidators.filter(({ cost }) => cost === "heavy").map(({ name }) => name)).toEqual([]);
});

it("has reads of whole pools in the heavy lane", () => {
  const pools = methods.filter(
    ({ rest, since }) => since !== "gloas" && rest.some(({ verb, path }) => verb === "GET" && path.includes("/pool/")),
  );
  expect(pools.map(({ cost }) => cost)).toEqual(Array(7).fill("heavy"));
});
