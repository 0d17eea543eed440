import "./futures.test.ts";
