import "../vectors/state-transition.test.ts";
