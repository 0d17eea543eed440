import { toHex } from "@lodestar/utils";
import { expect, it } from "vitest";
import { versionedHashesOf } from "./engine.ts";

it("computes the versioned hash of the empty blob's commitment", () => {
  const commitment = new Uint8Array(48);
  commitment[0] = 0xc0;
  expect(versionedHashesOf([commitment]).map(toHex)).toEqual([
    "0x010657f37554c781402a22917dee2f75def7ab966d7b770905398eba3c444014",
  ]);
});
