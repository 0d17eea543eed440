import { describe, expect, it } from "vitest";
import type { OpenBackend } from "./backend.ts";
import { loadBackend } from "./load-backend.ts";

const open: OpenBackend = () => {
  throw new Error("not opened in this test");
};
const loads = async () => open;
const fails = async () => {
  throw new Error("Cannot find module 'x-linux-arm64-gnu'\nRequire stack:\n- x/index.js");
};

describe("loadBackend", () => {
  it("prefers the native package, then c-kzg, then JavaScript", async () => {
    const all = { "node-eth-kzg": loads, "c-kzg": loads, portable: loads };
    expect(await loadBackend("auto", all)).toMatchObject({ backend: "node-eth-kzg", skipped: [] });
    expect(await loadBackend("auto", { ...all, "node-eth-kzg": fails })).toMatchObject({
      backend: "c-kzg",
      skipped: ["node-eth-kzg: Cannot find module 'x-linux-arm64-gnu'"],
    });
    expect(await loadBackend("auto", { ...all, "node-eth-kzg": fails, "c-kzg": fails })).toMatchObject({
      backend: "portable",
    });
  });

  it("loads the chosen backend and no other", async () => {
    const table = { "node-eth-kzg": loads, "c-kzg": fails, portable: loads };
    expect(await loadBackend("portable", table)).toMatchObject({ backend: "portable", skipped: [] });
    await expect(loadBackend("c-kzg", table)).rejects.toThrow(
      /^The chosen KZG backend does not load on \S+ \(c-kzg: Cannot find module 'x-linux-arm64-gnu'\)\.$/,
    );
  });

  it("names every backend and its reason when none loads", async () => {
    const none = { "node-eth-kzg": fails, "c-kzg": fails, portable: fails };
    await expect(loadBackend("auto", none)).rejects.toThrow(/node-eth-kzg: .*; c-kzg: .*; portable: /);
  });
});
