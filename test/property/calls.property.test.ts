import { testArbitraryCalls } from "./arbitrary-calls.ts";

testArbitraryCalls({ listsPerChain: 800, seed: Number(process.env.FANAL_TEST_SEED ?? 2) });
