import "./gossip.test.ts";
