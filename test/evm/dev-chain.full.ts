import "./dev-chain.test.ts";
