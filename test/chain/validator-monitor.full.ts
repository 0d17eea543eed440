import "./validator-monitor.test.ts";
