import "./network.test.ts";
