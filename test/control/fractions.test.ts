import { expect, it, onTestFinished } from "vitest";
import { serveApi } from "../support/api/served-api.ts";
import { openDevChain } from "../support/chain/dev-chain.ts";

it("fractions pass through a socket unchanged", async () => {
  const { devChain } = await openDevChain({ forks: [{ fork: "fulu", epoch: 0 }], speed: 0 });
  const served = await serveApi(devChain.api);
  onTestFinished(() => served.close());
  const call = async (method: string, params: Record<string, unknown>) =>
    JSON.parse((await served.call(method, params)).text);
  await call("dev_advance", { slots: 2 });
  expect((await call("dev_setValidators", { online: 0.75 })).result.online).toHaveLength(12);
  expect(await call("dev_setValidators", { online: 1.5 })).toMatchObject({ error: { code: -32602 } });
  expect(await call("dev_fork", { votes: 0.25 })).toMatchObject({ result: { position: { slot: "4" } } });
  expect(await call("dev_delayBlocks", { seconds: 1.25 })).toMatchObject({ result: { seconds: 1.25 } });
  expect(await call("dev_setSpeed", { speed: 0.5 })).toMatchObject({ result: { speed: 0.5 } });
  expect(await call("dev_setSpeed", { speed: 1e300 })).toMatchObject({ error: { code: -32602 } });
});
