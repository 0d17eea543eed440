import { ClassicLevel } from "classic-level";
import { expect, it, vi } from "vitest";
import { createApi } from "../../../src/api/api.ts";
import { createMethodTable } from "../../../src/api/bound-methods.ts";
import { createRouteTable } from "../../../src/api/rest/routes.ts";
import { Caller } from "../../support/api/caller.ts";
import { asBeaconChain, createFakeChain, fakeNetwork } from "../../support/api/fake-chain.ts";
import { startDevChain } from "../../support/chain/dev-chain.ts";
import { tempDirectory } from "../../support/directories/temp-directory.ts";

const READY = { ready: true, warmed_up: true, synced: true, database_writable: true, execution_online: true };

it("a dev chain is ready once its history is complete and its last write succeeded", async () => {
  const { devChain, node, db } = await startDevChain({ speed: 0.001 }, tempDirectory());
  const caller = new Caller(devChain.api);
  const servers = await node.serve({ rest: { host: "127.0.0.1", port: 0 } });
  const overRest = async () => {
    const response = await fetch(`${servers.restUrl}/fanal/v1/ready`);
    return [response.status, ((await response.json()) as { data: unknown }).data];
  };
  const warmingUp = { ...READY, ready: false, warmed_up: false };
  expect(await caller.call("getReadiness")).toEqual(warmingUp);
  expect(await overRest()).toEqual([503, warmingUp]);
  await devChain.run();
  expect(await overRest()).toEqual([200, READY]);

  const full = new Error("No space left on device");
  vi.spyOn(ClassicLevel.prototype, "batch").mockRejectedValueOnce(full);
  await expect(db.meta.putClockSlot(1)).rejects.toThrow(full.message);
  expect(await overRest()).toEqual([503, { ...READY, ready: false, database_writable: false }]);
  await expect(node.close()).rejects.toThrow(full.message);
});

it("a node that is behind, or whose execution engine is offline, is not ready", async () => {
  const chain = createFakeChain();
  const api = createApi({ chain: asBeaconChain(chain), network: fakeNetwork(chain), setLogSpec: () => {} });
  const caller = new Caller(api);
  expect(await caller.call("getReadiness")).toEqual(READY);
  chain.status.isSyncing = true;
  expect(await caller.call("getReadiness")).toEqual({ ...READY, ready: false, synced: false });
  chain.status.isSyncing = false;
  chain.status.executionOffline = true;
  expect(await caller.call("getReadiness")).toEqual({ ...READY, ready: false, execution_online: false });
  expect(createRouteTable(createMethodTable(api)).some(({ path }) => path === "/fanal/v1/ready")).toBe(true);
});
