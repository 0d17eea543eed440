import { missingRedis } from "../../test/support/gateway/redis-process.ts";
import { printSetting } from "../support/table.ts";
import { benchFaults } from "./faults.ts";
import { benchLongList } from "./long-list.ts";
import type { GatewayBenchOptions } from "./options.ts";
import { benchRedis } from "./redis.ts";
import { benchSingleFlight } from "./single-flight.ts";
import { benchSpeed } from "./speed.ts";
import { benchValidation } from "./validation.ts";
import { benchWorkers } from "./workers.ts";

/** Prints its measurements. Returns false if the gateway exceeds its budget. */
type Part = (options: GatewayBenchOptions) => Promise<boolean>;

/** Skips a part if Redis is not installed. */
function withRedis(part: Part): Part {
  return async (options) => {
    const missing = missingRedis();
    if (missing === undefined) return part(options);
    console.log(`Not measured: ${missing}.`);
    return true;
  };
}

const PARTS: Readonly<Record<string, Part>> = {
  speed: benchSpeed,
  validation: benchValidation,
  workers: benchWorkers,
  redis: withRedis(benchRedis),
  "single flight": withRedis(benchSingleFlight),
  faults: benchFaults,
  "long list": benchLongList,
};

/** Returns false if a part exceeds its budget. */
export async function benchGateway(options: GatewayBenchOptions): Promise<boolean> {
  const { only, rounds, seconds } = options;
  printSetting(`${rounds} rounds of ${seconds} s`);
  let isWithinBudget = true;
  for (const [name, part] of Object.entries(PARTS)) {
    if (!name.includes(only)) continue;
    console.log(`\n### ${name}\n`);
    isWithinBudget = (await part(options)) && isWithinBudget;
  }
  return isWithinBudget;
}
