import "./debug.test.ts";
