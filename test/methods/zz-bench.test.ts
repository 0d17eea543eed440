import { test } from "vitest";
import { validatorIds } from "../../src/catalogue/params/validator-ids.ts";
import { openDevChain, QUIET } from "../support/dev-chain.ts";
test("bench", async () => {
  const { devChain } = await openDevChain({ ...QUIET, validators: 8192 });
  const ids = Array.from({ length: 8192 }, (_, i) => i);
  await devChain.clock.advanceTo(1);
  const { validator, operations } = devChain.api;
  for (let i = 0; i < 3; i++) {
    let t = performance.now(); const lap = (n: string) => { const now = performance.now(); console.log(n, (now - t).toFixed(1), "ms"); t = performance.now(); };
    validatorIds.parse(ids.map(String)); lap("parse");
    await validator.getAttesterDutiesOf({ epoch: 1, validators: ids }); lap("handler");
    const a = await operations.validator.getAttesterDutiesOf({ epoch: 1, validators: ids }); lap("handler+encode");
    JSON.parse(String(a.body)); lap("JSON.parse");
  }
});
