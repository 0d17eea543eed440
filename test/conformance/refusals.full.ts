import "./refusals.test.ts";
