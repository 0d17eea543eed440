import "../vectors/rewards.test.ts";
