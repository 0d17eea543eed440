import "./topics.test.ts";
