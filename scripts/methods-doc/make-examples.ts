import { type ExampleAnswer, ExampleChain } from "./example-chain.ts";
import { EXAMPLES } from "./examples.ts";

export interface MadeExample extends ExampleAnswer {
  params: unknown[];
  fork: string;
}

/** Makes every example call; the result is what was asked and answered, by the name of the method. */
export async function makeExamples(): Promise<Map<string, MadeExample>> {
  // Validators may leave after four epochs; the finalized checkpoint is two epochs behind.
  const phase0 = await ExampleChain.open([], 5);
  const made = await makeOn(phase0, "phase0");
  const altair = await ExampleChain.open([{ fork: "altair", epoch: 0 }], 1);
  const madeOnAltair = await makeOn(altair, "altair");
  const fulu = await ExampleChain.open([{ fork: "fulu", epoch: 0 }], 5);
  return new Map([...made, ...madeOnAltair, ...(await makeOn(fulu, "fulu"))]);
}

async function makeOn(chain: ExampleChain, chainFork: string): Promise<Map<string, MadeExample>> {
  const made = new Map<string, MadeExample>();
  try {
    for (const [name, { fork = "phase0", params }] of Object.entries(EXAMPLES)) {
      if (fork !== chainFork) continue;
      const asked = await params(chain);
      made.set(name, { params: asked, fork, ...anywhere(await chain.answer(name, asked)) });
    }
  } finally {
    await chain.close();
  }
  return made;
}

/** The same on every machine: the node's version names the platform that it runs on. */
function anywhere(answer: ExampleAnswer): ExampleAnswer {
  return JSON.parse(JSON.stringify(answer).replaceAll(`/${process.platform}-${process.arch}`, "/linux-x64"));
}
