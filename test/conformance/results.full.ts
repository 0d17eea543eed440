import "./results.test.ts";
