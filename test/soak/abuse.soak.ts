import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ATTACKS } from "../support/abuse/attacks.ts";
import { GAUGED, readGauge } from "../support/abuse/gauged-node.ts";
import { Attacker, probe, targetOf } from "../support/abuse/siege.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { Program } from "../support/program/program.ts";

const SECONDS = Number(process.env.SOAK_ABUSE_SECONDS ?? 60);
/** Memory limit: requests and responses of both servers by their limits, and the node itself. */
const MOST_BYTES = 2 * 2 ** 30;
/** Memory that remains afterwards, not returned by the allocator. */
const MOST_GROWTH_BYTES = 512 * 2 ** 20;

let attacker: Attacker;

beforeAll(async () => {
  attacker = await Attacker.start();
});
afterAll(() => attacker.stop());

/** Takes half an hour, so progress is printed. */
function report(attack: string, what: string, bytes: number): void {
  console.log(`"${attack}" ${what}; ${Math.round(bytes / 2 ** 20)} MiB`);
}

describe.each(Object.keys(ATTACKS))("%s", (name) => {
  it(`for ${SECONDS} seconds`, async () => {
    const program = await Program.dev(
      [
        ...["--data-dir", tempDirectory(), "--dev-validators", "0-31", "--warmup-epochs", "40"],
        ...["--rest", "--rest-port", "0"],
      ],
      { execArgv: GAUGED },
    );
    await program.untilLine(/Dev chain is running/);
    const target = await targetOf(program);
    await probe(program, { seconds: 2 });
    const before = await readGauge(program);

    report(name, "begins", before.residentBytes);
    const during = await probe(program, { seconds: SECONDS, begin: () => attacker.begin(name, target) });
    await attacker.end();
    report(
      name,
      `is over, ${during.latencies.length} questions, ${during.unanswered} of them unanswered`,
      during.peakBytes,
    );
    expect(during.unanswered).toBe(0);
    expect(during.peakBytes).toBeLessThan(MOST_BYTES);

    const after = await probe(program, { seconds: 2 });
    expect(after.unanswered).toBe(0);
    const { residentBytes } = await readGauge(program);
    report(name, "has been followed by a rest", residentBytes);
    expect(residentBytes - before.residentBytes).toBeLessThan(MOST_GROWTH_BYTES);
    expect(program.lines.filter((line) => / (ERROR|FATAL) /.test(line))).toEqual([]);

    attacker.begin(name, target);
    await probe(program, { seconds: 1 });
    expect(await program.stop()).toEqual({ code: 0, signal: null });
    await attacker.end();
  });
});
