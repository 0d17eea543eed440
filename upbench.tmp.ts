import { fork } from "node:child_process";
import { UpstreamClient } from "./src/gateway/upstream/upstream-client.ts";
import { Upstreams } from "./src/gateway/upstream/upstreams.ts";
import { SYSTEM_TIMERS } from "./src/timers.ts";
import { questionOf } from "./src/gateway/upstream/question.test-support.ts";
import { SetConditions } from "./src/gateway/upstream/conditions.test-support.ts";
import { createRecordingLogger } from "./src/log/recording-logger.test-support.ts";
const child = fork("/tmp/upbench/server.mjs",{execArgv:[]});
const port = await new Promise<number>(r=>child.once("message",m=>r(m as number)));
const options = {name:"a",url:`http://127.0.0.1:${port}`,tier:0,weight:1};
const client = new UpstreamClient(options,{timers:SYSTEM_TIMERS});
const up = new Upstreams({options:{upstreams:[options],broadcast:1,hedgeMillis:300},conditions:new SetConditions("a"),timers:SYSTEM_TIMERS,logger:createRecordingLogger()});
const req = {verb:"GET",url:"/eth/v1/beacon/states/head/root",headers:{accept:"application/json"}} as const;
const q = questionOf({url:"/eth/v1/beacon/states/head/root",params:{state_id:"head"}});
const waiting = { get signal(): AbortSignal { throw new Error("no"); }, onOver: () => () => {} };
const q2 = { ...q, waiting };
async function run(name:string, f:()=>Promise<unknown>, n:number, conc:number){
  const cpu0=process.cpuUsage(); const t0=performance.now(); let left=n;
  await Promise.all(Array.from({length:conc},async()=>{ while(left-->0) await f(); }));
  const dt=performance.now()-t0; const c=process.cpuUsage(cpu0);
  console.log(name,conc,`${(n/dt*1000).toFixed(0)}/s cpu/req user ${(c.user/n).toFixed(1)} sys ${(c.system/n).toFixed(1)} us`);
}
for (let i=0;i<4;i++) {
  if (process.argv[2]!=="read") await run("client",()=>client.request(req,{}),40000,32);
  if (process.argv[2]!=="client") await run("read",()=>up.read(q2),40000,32);
}
await client.close(); await up.close(); child.disconnect();
