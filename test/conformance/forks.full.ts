import "./forks.test.ts";
