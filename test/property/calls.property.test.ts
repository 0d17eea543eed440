import { testArbitraryCalls } from "./arbitrary-calls.ts";

testArbitraryCalls({ listsPerFork: 800, seed: Number(process.env.FANAL_TEST_SEED ?? 1) });
